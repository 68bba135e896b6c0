/**
 * `<pawl-downloads src="https://pawl.example" token="…">`: the downloads of a service, with progress, pause, resume, cancel and save.
 * docs/clients.md lists its parts and custom properties.
 */
export class PawlDownloads extends HTMLElement {
	static readonly observedAttributes: readonly string[];
}

declare global {
	interface HTMLElementTagNameMap {
		"pawl-downloads": PawlDownloads;
	}
}

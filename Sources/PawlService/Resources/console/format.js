// Numbers, sizes and times in the browser's locale.

// As in the terminal.
const units = ["B", "KiB", "MiB", "GiB", "TiB"];
const formats = [0, 1].map((digits) => new Intl.NumberFormat(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits }));

export const sum = (items, member) => items.reduce((total, item) => total + item[member], 0);

export const joined = (...texts) => texts.filter(Boolean).join(" · ");

export const count = (value) => formats[0].format(value);

export const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

// The place of the unit for a number of bytes.
const scaleOf = (bytes) => Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1);

// Not rounded up: what is not complete must not look so.
const scaled = (bytes, scale) => (scale ? formats[1].format(Math.floor((10 * bytes) / 1024 ** scale) / 10) : count(bytes));

// `8.0 MiB`
export function sizeOf(bytes) {
	const scale = scaleOf(bytes);
	return `${scaled(bytes, scale)} ${units[scale]}`;
}

// `1.2 MiB/s`
export const speed = (bytes) => `${sizeOf(bytes)}/s`;

// `3.1 of 8.0 MiB`, both in the unit of the whole, or `512 KiB of 1.1 GiB`.
export function part(received, total) {
	if (total === null) return sizeOf(received);
	const scale = scaleOf(total);
	const isTiny = received > 0 && scale > 1 && received < 1024 ** scale / 10;
	return `${isTiny ? sizeOf(received) : scaled(received, scale)} of ${sizeOf(total)}`;
}

// A message without the names of options and JSON members.
export function inWords(message) {
	const [, host, denied] = /the destination guard refuses (.+?)( \(denied.+)?; --allow-destination/.exec(message) ?? [];
	if (host) return `The service may not connect to ${host}. Its operator ${denied ? "denies" : "can allow"} it.`;
	return message.replace(/'downloads\[\d+\]\.(\w+)[^']*'/g, "$1").replace(/'(\w+)\[(\d+)\]'/g, (_, name, index) => `${name} ${Number(index) + 1}`);
}

const durations = new Intl.DurationFormat(undefined, { style: "short" });

// `4 sec`, `2 min, 5 sec`
export function span(value) {
	const all = Math.max(1, Math.ceil(value));
	const [days, hours, minutes, seconds] = [all / 86400, (all / 3600) % 24, (all / 60) % 60, all % 60].map(Math.floor);
	return durations.format(days ? { days, hours } : hours ? { hours, minutes } : { minutes, seconds });
}

// Formatting is slow, and distances of a long list are few.
const distances = {};

// `4 sec`, `5 min`, `1 hr, 35 min`: the time until or since a moment.
export function distance(text) {
	const seconds = Math.abs(Date.parse(text) - Date.now()) / 1000;
	const rounded = seconds < 60 ? Math.ceil(seconds) : 60 * Math.round(seconds / 60);
	return (distances[rounded] ??= span(rounded));
}

// `3:45` or `1:03:45`
export const playingTime = (milliseconds) => new Date(milliseconds).toISOString().slice(11, 19).replace(/^00:0?/, "");

// A date, or the text if it is none.
export const day = (text) => (Number.isNaN(Date.parse(text)) ? text : new Date(text).toLocaleDateString(undefined, { dateStyle: "medium" }));

export const moment = (text) => text && new Date(text).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });

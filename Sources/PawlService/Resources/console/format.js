// Numbers, sizes and times in the browser's locale.

const scales = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
const formats = {};

function number(value, digits, unit) {
	const key = digits + (unit ?? "");
	const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, style: unit && "unit", unit };
	return (formats[key] ??= new Intl.NumberFormat(undefined, options)).format(value);
}

export const sum = (items, member) => items.reduce((total, item) => total + item[member], 0);

export const joined = (...texts) => texts.filter(Boolean).join(" · ");

export const count = (value) => number(value, 0);

export const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

// The unit for a number of bytes, its size, and the number of decimals.
function scaleOf(bytes) {
	const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), scales.length - 1);
	return { unit: scales[power], size: 1000 ** power, digits: power < 2 ? 0 : 1 };
}

// `8.0 MB`
export function sizeOf(value, suffix = "") {
	const { unit, size, digits } = scaleOf(value);
	return number(value / size, digits, unit + suffix);
}

// `1.2 MB/s`
export const speed = (value) => sizeOf(value, "-per-second");

// `3.1 of 8.0 MB`, both in the unit of the whole.
export function part(received, total) {
	if (total === null) return sizeOf(received);
	const { size, digits } = scaleOf(total);
	return `${number(received / size, digits)} of ${sizeOf(total)}`;
}

const durations = new Intl.DurationFormat(undefined, { style: "short" });

// `4 sec`, `2 min, 5 sec`
export function span(value) {
	const all = Math.max(1, Math.ceil(value));
	const [days, hours, minutes, seconds] = [all / 86400, (all / 3600) % 24, (all / 60) % 60, all % 60].map(Math.floor);
	return durations.format(days ? { days, hours } : hours ? { hours, minutes } : { minutes, seconds });
}

// Formatting is slow, and the distances of a long list are few.
const distances = {};

// `4 sec`, `5 min`, `1 hr, 35 min`: the time until or since a moment, in minutes from the first one on.
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

/* What sections are made of. Texts of the data become text nodes only, never markup. */
const data = JSON.parse(document.getElementById("data").textContent);

/* An element with attributes and children: elements, texts, or null for nothing. */
function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes ?? {}))
        made.setAttribute(key, value);
    made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
    return made;
}

/* "123.4 us": four significant digits and the unit that suits, as in the tables of the program. */
function timeText(ns) {
    const units = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];
    const [unit, size] = units.find(([, size]) => Math.abs(ns) >= size) ?? units[3];
    return ns === 0 ? "0" : `${(ns / size).toPrecision(4)} ${unit}`;
}

/* The same for axes, which say no more than they must. */
function shortTimeText(ns) {
    const [number, unit] = timeText(ns).split(" ");
    return unit ? `${Number(number)} ${unit}` : number;
}

const percentText = (share) => `${(100 * share).toFixed(1)} %`;
const countText = (count) => count.toLocaleString("en-US");

const formats = {
    ns: timeText,
    share: percentText,
    count: countText,
};

function valueText(value, unit) {
    if (value === null || value === undefined)
        return "–";
    if (typeof value === "boolean")
        return value ? "yes" : "no";
    if (typeof value === "number")
        return formats[unit]?.(value) ?? String(Number(value.toPrecision(6)));
    return String(value);
}

/* Wide tables scroll by themselves, with the keyboard too, and so do long ones. */
const TALL = 60;

function tableOf(columns, rows, label) {
    const isNumber = columns.map((_, i) => rows.length > 0 && rows.every((row) =>
        row[i] === null || typeof row[i] === "number"));
    const cell = (value, i) => {
        if (columns[i].unit === "bar")
            return element("td", {class: "meter"}, bar(value));
        const text = valueText(value, columns[i].unit);
        return element("td", {class: isNumber[i] ? "number" : text.length > 40 ? "words" : ""}, text);
    };
    return element("div", {class: rows.length > TALL ? "scroll tall" : "scroll", tabindex: 0, role: "region", "aria-label": label},
        element("table", {},
            element("thead", {}, element("tr", {}, columns.map((column, i) =>
                element("th", {scope: "col", class: isNumber[i] && column.unit !== "bar" ? "number" : ""}, column.name)))),
            element("tbody", {}, rows.map((row) => element("tr", {}, row.map(cell))))));
}

/* Samples of colours: styles within elements are not allowed, so they are drawn. `paint` is the name
 * of a colour or a function. */
const swatches = [];

function swatch(paint) {
    const canvas = element("canvas", {class: "swatch", width: 1, height: 1, "aria-hidden": "true"});
    swatches.push([canvas, paint]);
    return canvas;
}

function paintSwatches() {
    for (const [canvas, paint] of swatches) {
        const ctx = canvas.getContext("2d");
        if (typeof paint === "function") {
            paint(ctx);
            continue;
        }
        ctx.fillStyle = colour(paint);
        ctx.fillRect(0, 0, canvas.width, canvas.height);
    }
}

/* A share as a length, with its number. */
const bar = (share) => share === null ? "–" : [element("meter", {min: 0, max: 1, value: Math.min(1, share)}),
    ` ${percentText(share)}`];

function folded(title, ...children) {
    return element("details", {}, element("summary", {}, title), ...children);
}

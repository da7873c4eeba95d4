/* A chart: axes, zoom and reading; what is within its axes is drawn by the caller, in CSS pixels. The
 * same view is had by dragging, by buttons and by keys, and every chart stands beside a table of
 * what it shows. */
const charts = [];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const STEP = 0.2, ZOOM = 1.6, CLOSEST = 1e-7;
const DRAGGED = 20; /* pixels along an axis by which a drag chooses a piece of it */
const EDGE = 8; /* pixels out of sight that are drawn as well, lines for example */
const ROOM = {x: 90, y: 40}; /* pixels from one label of an axis to the next, at least */
const FONT = "12px system-ui, sans-serif";

/* A scale's range as what zooming and panning add to: logarithms of a logarithmic one. */
const toLinear = (scale, value) => scale.log ? Math.log10(value) : value;
const fromLinear = (scale, value) => scale.log ? 10 ** value : value;
const whole = (scale) => [toLinear(scale, scale.min), toLinear(scale, scale.max)];

/* Even steps of 1, 2 or 5 times a power of ten, at most `count` of them. */
function linearTicks(min, max, count) {
    const least = (max - min) / count, power = 10 ** Math.floor(Math.log10(least));
    const step = ([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power, ticks = [];
    for (let i = Math.ceil(min / step); i * step <= max; i++)
        ticks.push(i * step);
    return ticks;
}

/* Powers of ten, with 2 and 5 between them where there is room, or even steps of less than a decade. */
function logTicks(min, max, count) {
    const decades = Math.log10(max / min), ticks = [];
    if (decades < 0.7)
        return linearTicks(min, max, count);
    for (let power = Math.floor(Math.log10(min)); 10 ** power <= max; power++)
        for (const factor of count > 1.5 * decades ? [1, 2, 5] : [1])
            ticks.push(factor * 10 ** power);
    return ticks.filter((at) => at >= min && at <= max);
}

/* Of several things the one whose place is the nearest. */
function nearest(things, place, x, y) {
    const distance = (thing) => Math.hypot(place(thing)[0] - x, place(thing)[1] - y);
    return things.reduce((best, thing) => distance(thing) < distance(best) ? thing : best);
}

/* spec: {label, hint, height(width), x: scale, y: scale, zoomY, draw(chart, ctx), read(chart, x, y), legend}
 * scale: {min, max, log, label, room, text(value), names, size}; with names an axis has one for each whole
 * step from 0 on, in its middle; size is the width of the y axis's texts. */
class Chart {
    constructor(spec) {
        this.spec = spec;
        this.view = this.all();
        this.readout = element("output", {class: "readout"}, spec.hint ?? "");
        this.canvas = element("canvas", {});
        this.selection = element("div", {class: "selection", hidden: ""});
        this.host = element("div", {class: "chart", tabindex: 0, role: "application",
            "aria-roledescription": "chart", "aria-label":
            `${spec.label}. Arrow keys move, plus and minus zoom, 0 shows all, Escape too; ` +
            "a table of the same follows."}, this.canvas, this.selection);
        this.figure = element("figure", {}, this.host,
            element("div", {class: "bar"}, this.readout, this.buttons()), spec.legend ?? null);
        this.listen();
        charts.push(this);
    }

    buttons() {
        const kinds = [["−", "zoom out", () => this.zoom(ZOOM)], ["+", "zoom in", () => this.zoom(1 / ZOOM)],
            ["◀", "move left", () => this.pan("x", -STEP)], ["▶", "move right", () => this.pan("x", STEP)],
            ["all", "show all", () => this.reset()]];
        return kinds.map(([text, label, act]) => {
            const button = element("button", {type: "button", "aria-label": label, title: label}, text);
            button.addEventListener("click", act);
            return button;
        });
    }

    listen() {
        const on = (event, act) => this.host.addEventListener(event, act);
        on("keydown", (event) => this.key(event));
        on("dblclick", () => this.reset());
        on("pointerdown", (event) => {
            this.from = event.button === 0 ? this.place(event) : null;
            this.host.setPointerCapture(event.pointerId);
        });
        on("pointermove", (event) => this.from ? this.select(this.place(event)) : this.read(this.place(event)));
        on("pointerup", (event) => this.from && this.zoomTo(this.place(event)));
        on("pointercancel", () => this.drop());
    }

    /* To be called once the figure is in the page and has a width. */
    open() {
        this.draw();
        new ResizeObserver(() => this.host.clientWidth !== this.width && this.draw()).observe(this.host);
    }

    /* ---- drawing; the page shows the canvas as wide as there is room */

    draw(width = Math.max(240, this.host.clientWidth)) {
        const {x, y, draw} = this.spec, height = this.spec.height(width), ratio = devicePixelRatio;
        const left = (y.size ?? 50) + (y.label ? 22 : 0), top = 16;
        this.width = width;
        this.box = {left, top, width: width - left - 24, height: height - top - (x.label ? 52 : 30)};
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(height * ratio);
        const ctx = this.canvas.getContext("2d");
        ctx.scale(ratio, ratio);
        this.drawAxis(ctx, "x");
        this.drawAxis(ctx, "y");
        ctx.beginPath();
        ctx.rect(left, top, this.box.width, this.box.height);
        ctx.clip();
        draw(this, ctx);
    }

    ticks(axis) {
        const {min, max} = this.shown(axis), {names, log, room = ROOM[axis]} = this.spec[axis];
        const count = (axis === "x" ? this.box.width : this.box.height) / room;
        if (!names)
            return (log ? logTicks : linearTicks)(min, max, count);
        const step = Math.max(1, Math.ceil((max - min) / count));
        return names.map((_, i) => i + 0.5).filter((at, i) => i % step === 0 && at >= min && at <= max);
    }

    drawAxis(ctx, axis) {
        const {left, top, width, height} = this.box, across = axis === "x";
        const {names, label, text = (at) => String(Number(at.toPrecision(6)))} = this.spec[axis];
        ctx.font = FONT;
        ctx.fillStyle = colour("--text");
        ctx.strokeStyle = colour("--grid");
        ctx.textAlign = across ? "center" : "right";
        ctx.textBaseline = across ? "top" : "middle";
        ctx.beginPath();
        for (const at of this.ticks(axis)) {
            const x = across ? this.x(at) : left, y = across ? top + height : this.y(at);
            ctx.fillText(names ? names[Math.floor(at)] : text(at), across ? x : x - 8, across ? y + 8 : y);
            if (names)
                continue;
            ctx.moveTo(across ? x : x - 5, across ? y + 5 : y);
            ctx.lineTo(across ? x : x + width, across ? top : y);
        }
        ctx.stroke();
        if (!label)
            return;
        ctx.save();
        ctx.translate(across ? left + width / 2 : 4, across ? top + height + 30 : top + height / 2);
        ctx.rotate(across ? 0 : -Math.PI / 2);
        ctx.textAlign = "center";
        ctx.textBaseline = "top";
        ctx.fillText(label, 0, 0);
        ctx.restore();
    }

    /* ---- values and places */

    shown(axis) {
        const [min, max] = this.view[axis].map((at) => fromLinear(this.spec[axis], at));
        return {min, max};
    }

    share(axis, value) {
        const [low, high] = this.view[axis];
        return (toLinear(this.spec[axis], value) - low) / (high - low);
    }

    x(value) { return this.box.left + this.box.width * this.share("x", value); }
    y(value) { return this.box.top + this.box.height * (1 - this.share("y", value)); }

    /* What is in sight of a rectangle that goes from x and y by w and h, in pixels. */
    rectangle({x, y, w, h}) {
        const {left, top, width, height} = this.box;
        const sides = ([from, to], low, high) => [Math.max(from, low - EDGE), Math.min(to, high + EDGE)];
        const [west, east] = sides([this.x(x), this.x(x + w)], left, left + width);
        const [north, south] = sides([this.y(y + h), this.y(y)], top, top + height);
        return {left: west, top: north, width: east - west, height: south - north};
    }

    /* Where the pointer is, as shares of the box. */
    place(event) {
        const {left, top, width, height} = this.box, shown = this.canvas.getBoundingClientRect();
        const scale = this.width / shown.width;
        return {x: ((event.clientX - shown.left) * scale - left) / width,
            y: 1 - ((event.clientY - shown.top) * scale - top) / height};
    }

    linearAt(axis, share) {
        const [low, high] = this.view[axis];
        return low + share * (high - low);
    }

    read({x, y}) {
        if (Math.min(x, y) < 0 || Math.max(x, y) > 1)
            return;
        const at = (axis, share) => fromLinear(this.spec[axis], this.linearAt(axis, share));
        this.readout.textContent = this.spec.read(this, at("x", x), at("y", y)) ?? "";
    }

    /* ---- dragging over a piece: of both axes, or of the one along which it is long */

    piece(to) {
        const {width, height} = this.box, {zoomY} = this.spec;
        const wide = Math.abs(to.x - this.from.x) * width, tall = zoomY ? Math.abs(to.y - this.from.y) * height : 0;
        const along = (axis, chosen) => (chosen ? [this.from[axis], to[axis]] : [0, 1])
            .map((share) => Math.min(Math.max(share, 0), 1)).sort((a, b) => a - b);
        return Math.max(wide, tall) < 4 ? null : {
            x: along("x", wide >= DRAGGED || wide >= tall), y: along("y", tall >= DRAGGED || tall > wide)};
    }

    select(to) {
        const piece = this.piece(to), {left, top, width, height} = this.box;
        const scale = this.canvas.clientWidth / this.width, {style} = this.selection;
        this.selection.hidden = !piece;
        if (!piece)
            return;
        const {x, y} = piece;
        style.left = `${(left + x[0] * width) * scale}px`;
        style.top = `${(top + (1 - y[1]) * height) * scale}px`;
        style.width = `${(x[1] - x[0]) * width * scale}px`;
        style.height = `${(y[1] - y[0]) * height * scale}px`;
    }

    drop() {
        this.from = null;
        this.selection.hidden = true;
    }

    zoomTo(to) {
        const piece = this.piece(to);
        this.drop();
        if (piece)
            this.show(Object.fromEntries(["x", "y"].map((axis) =>
                [axis, piece[axis].map((share) => this.linearAt(axis, share))])));
    }

    /* ---- every change of the view: kept within what there is, and no closer than numbers can tell */

    show(view) {
        for (const [axis, [low, high]] of Object.entries(view)) {
            const [least, most] = whole(this.spec[axis]);
            const span = Math.min(most - least, Math.max(high - low, (most - least) * CLOSEST));
            const from = Math.max(Math.min(low, most - span), least);
            this.view[axis] = [from, from + span];
        }
        this.draw();
    }

    pan(axis, share) {
        const [low, high] = this.view[axis], by = (high - low) * share;
        if (axis === "x" || this.spec.zoomY)
            this.show({[axis]: [low + by, high + by]});
    }

    zoom(factor) {
        const around = ([low, high]) => [(low + high - (high - low) * factor) / 2,
            (low + high + (high - low) * factor) / 2];
        const {x, y} = this.view;
        this.show(this.spec.zoomY ? {x: around(x), y: around(y)} : {x: around(x)});
    }

    all() { return {x: whole(this.spec.x), y: whole(this.spec.y)}; }

    reset() {
        this.view = this.all();
        this.draw();
    }

    key(event) {
        const keys = {
            ArrowLeft: () => this.pan("x", -STEP), ArrowRight: () => this.pan("x", STEP),
            ArrowUp: () => this.pan("y", STEP), ArrowDown: () => this.pan("y", -STEP),
            "+": () => this.zoom(1 / ZOOM), "=": () => this.zoom(1 / ZOOM), "-": () => this.zoom(ZOOM),
            0: () => this.reset(), Escape: () => this.reset(), Home: () => this.reset(),
        };
        const act = event.ctrlKey || event.metaKey || event.altKey ? null : keys[event.key];
        if (!act)
            return;
        act();
        event.preventDefault();
    }
}

/* Colours change with the system's. Paper is light and narrow, and shows what can be unfolded but
 * for the tables beside charts. */
const PAPER_WIDTH = 700;

function watchColours() {
    const redraw = (width) => {
        charts.forEach((chart) => chart.draw(width));
        paintSwatches();
    };
    const print = (printing) => {
        document.documentElement.classList.toggle("printing", printing);
        document.querySelectorAll("details.printed").forEach((details) => { details.open = printing; });
        redraw(printing ? PAPER_WIDTH : undefined);
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
    addEventListener("beforeprint", () => print(true));
    addEventListener("afterprint", () => print(false));
    paintSwatches();
}

/* Axes, zoom and cursor by uPlot; what is within them is drawn by the caller. The same view is had
 * by dragging, by buttons and by keys, and every chart stands beside a table of what it shows. */
const charts = [];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const STEP = 0.2, ZOOM = 1.6, CLOSEST = 1e-7;

/* A scale's range as what zooming and panning add to: logarithms of a logarithmic one. */
const toLinear = (scale, value) => scale.log ? Math.log10(value) : value;
const fromLinear = (scale, value) => scale.log ? 10 ** value : value;

/* spec: {label, height(width), x, y: {min, max, log, axis…}, zoomY, draw(u), read(u, x, y)} */
class Chart {
    constructor(spec) {
        this.spec = spec;
        this.readout = element("output", {class: "readout"}, spec.hint ?? "");
        this.host = element("div", {class: "chart", tabindex: 0, role: "application",
            "aria-roledescription": "chart", "aria-label":
            `${spec.label}. Arrow keys move, plus and minus zoom, 0 shows all, Escape too; ` +
            "a table of the same follows."});
        this.figure = element("figure", {}, this.host,
            element("div", {class: "bar"}, this.readout, this.buttons()), spec.legend ?? null);
        this.host.addEventListener("keydown", (event) => this.key(event));
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

    /* To be called once the figure is in the page and has a width. */
    open() {
        const axis = (more) => ({stroke: () => colour("--text"), font: "12px system-ui, sans-serif",
            labelFont: "12px system-ui, sans-serif", grid: {stroke: () => colour("--grid"), width: 1}, ticks: {stroke: () => colour("--line"), width: 1},
            ...more});
        const scale = (s) => ({time: false, auto: false, distr: s.log ? 3 : 1, min: s.min, max: s.max,
            range: (u, min, max) => [min, max]});
        const {x, y, zoomY, draw} = this.spec;
        this.plot = new uPlot({
            ...this.size(), legend: {show: false}, scales: {x: scale(x), y: scale(y)},
            series: [{}, {show: false}], axes: [axis(x.axis), axis(y.axis)],
            cursor: {points: {show: false}, drag: {x: true, y: Boolean(zoomY), uni: 20},
                bind: {dblclick: () => () => { this.reset(); return null; }}},
            hooks: {draw: [(u) => this.within(u, draw)], setCursor: [(u) => this.read(u)]},
        }, [[x.min, x.max], [null, null]], this.host);
        this.width = this.host.clientWidth;
        new ResizeObserver(() => this.resize()).observe(this.host);
    }

    size() {
        const width = Math.max(240, this.host.clientWidth);
        return {width, height: this.spec.height(width)};
    }

    resize() {
        if (this.host.clientWidth === this.width)
            return;
        this.width = this.host.clientWidth;
        this.plot.setSize(this.size());
    }

    redraw() { this.plot.redraw(false, true); }

    within(u, draw) {
        const {ctx, bbox} = u;
        ctx.save();
        ctx.beginPath();
        ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
        ctx.clip();
        draw(u, ctx);
        ctx.restore();
    }

    read(u) {
        const {left, top} = u.cursor;
        if (left === undefined || left < 0)
            return;
        const text = this.spec.read(u, u.posToVal(left, "x"), u.posToVal(top, "y"));
        this.readout.textContent = text ?? "";
    }

    /* Every change of the view: kept within what there is, and no closer than numbers can tell. */
    set(axis, low, high) {
        const scale = this.spec[axis];
        const least = toLinear(scale, scale.min), most = toLinear(scale, scale.max);
        const span = Math.min(most - least, Math.max(high - low, (most - least) * CLOSEST));
        const from = Math.min(Math.max(low, least), most - span);
        this.plot.setScale(axis, {min: fromLinear(scale, from), max: fromLinear(scale, from + span)});
    }

    view(axis) {
        const {min, max} = this.plot.scales[axis], scale = this.spec[axis];
        return [toLinear(scale, min), toLinear(scale, max)];
    }

    pan(axis, share) {
        if (axis === "y" && !this.spec.zoomY)
            return;
        const [low, high] = this.view(axis), by = (high - low) * share;
        this.set(axis, low + by, high + by);
    }

    zoom(factor) {
        for (const axis of this.spec.zoomY ? ["x", "y"] : ["x"]) {
            const [low, high] = this.view(axis), centre = (low + high) / 2;
            this.set(axis, centre - (centre - low) * factor, centre + (high - centre) * factor);
        }
    }

    reset() {
        for (const axis of ["x", "y"])
            this.plot.setScale(axis, {min: this.spec[axis].min, max: this.spec[axis].max});
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
    const redraw = () => {
        charts.forEach((chart) => chart.redraw());
        paintSwatches();
    };
    const print = (printing) => {
        document.documentElement.classList.toggle("printing", printing);
        document.querySelectorAll("details.printed").forEach((details) => { details.open = printing; });
        charts.forEach((chart) => chart.plot.setSize(printing
            ? {width: PAPER_WIDTH, height: chart.spec.height(PAPER_WIDTH)} : chart.size()));
        redraw();
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    addEventListener("beforeprint", () => print(true));
    addEventListener("afterprint", () => print(false));
    paintSwatches();
}

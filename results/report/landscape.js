/* A map of a search: a cell for each pair of two values of a tiling. A number is a time, a number
 * in brackets a lower bound that ruled the cell out, a word the limit that forbids it. */
const WORST = 2; /* times of this multiple of the best and beyond look the same */
/* Viridis, its dark end lightened so that it stands off a dark ground too. */
const SHADES = [[253, 231, 37], [94, 201, 98], [33, 145, 140], [62, 105, 160], [115, 80, 160]];

function shade(ratio) {
    const at = (Math.min(Math.max(ratio, 1), WORST) - 1) / (WORST - 1) * (SHADES.length - 1);
    const i = Math.min(Math.floor(at), SHADES.length - 2), mix = SHADES[i].map((low, c) =>
        Math.round(low + (SHADES[i + 1][c] - low) * (at - i)));
    return `rgb(${mix})`;
}

function hatch(ctx, left, top, width, height) {
    const step = 6;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    ctx.strokeStyle = colour("--ground");
    ctx.lineWidth = 2;
    ctx.beginPath();
    for (let x = left - height - (left - height) % step; x < left + width; x += step) {
        ctx.moveTo(x, top + height);
        ctx.lineTo(x + height, top);
    }
    ctx.stroke();
    ctx.restore();
}

/* What the colours mean, painted as the cells are. */
function landscapeLegend() {
    const entry = (text, paint) => {
        const canvas = element("canvas", {class: "sample", width: 48, height: 24, "aria-hidden": "true"});
        swatches.push([canvas, paint]);
        return element("span", {}, canvas, text);
    };
    const scale = (ctx) => {
        for (let x = 0; x < 48; x++) {
            ctx.fillStyle = shade(1 + x / 47 * (WORST - 1));
            ctx.fillRect(x, 0, 1, 24);
        }
    };
    return element("div", {class: "legend"}, entry(`the best to ${WORST} times its time, or more`, scale),
        entry("ruled out: its lower bound", (ctx) => { scale(ctx); hatch(ctx, 0, 0, 48, 24); }),
        entry("breaks a limit", "--none"), entry("no such tiling", "--ground"));
}

function landscape(section) {
    const {x, y, cells, best_ns: best} = section;
    const cellAt = (i, j) => cells[j]?.[i] ?? null;

    function describe(cell) {
        if (cell === null)
            return "no such tiling";
        if (typeof cell === "string")
            return cell ? `breaks the limit of ${cell}` : "breaks a limit";
        return Array.isArray(cell)
            ? `ruled out: at least ${timeText(cell[0])}, ${(cell[0] / best).toFixed(3)} times the best`
            : `${timeText(cell)}, ${(cell / best).toFixed(3)} times the best`;
    }

    function draw(chart, ctx) {
        const place = (i, j) => chart.rectangle({x: i, y: j, w: 1, h: 1});
        cells.forEach((row, j) => row.forEach((cell, i) => {
            if (cell === null)
                return;
            const pruned = Array.isArray(cell);
            ctx.fillStyle = typeof cell === "string" ? colour("--none") : shade((pruned ? cell[0] : cell) / best);
            const {left, top, width, height} = place(i, j), gap = width > 8 ? 1 : 0;
            ctx.fillRect(left, top, width - gap, height - gap);
            if (pruned)
                hatch(ctx, left, top, width - gap, height - gap);
        }));
        ctx.strokeStyle = colour("--text");
        ctx.lineWidth = 3;
        const {left, top, width, height} = place(x.best, y.best);
        ctx.strokeRect(left, top, width, height);
    }

    const name = (i, j) => `${x.name} ${x.values[i]}, ${y.name} ${y.values[j]}`;
    function read(chart, at, above) {
        const i = Math.floor(at), j = Math.floor(above);
        return x.values[i] === undefined || y.values[j] === undefined ? ""
            : `${name(i, j)}: ${describe(cellAt(i, j))}`;
    }

    const scale = (of, room) => ({min: 0, max: of.values.length, label: of.name, names: of.values, room});
    const chart = new Chart({
        label: `${section.title}. The best, ${timeText(best)}, is at ${name(x.best, y.best)}`,
        hint: "Point at a cell to read it; drag over some to look closer.",
        height: (width) => Math.min(560, Math.max(260, width * 0.55)),
        x: scale(x, 36),
        y: scale(y, 18),
        zoomY: true, draw, read, legend: landscapeLegend(),
    });
    const short = (cell) => cell === null ? "–" : typeof cell === "string" ? cell || "limit"
        : Array.isArray(cell) ? `≥ ${timeText(cell[0])}` : timeText(cell);
    const table = tableOf([{name: `${y.name} \\ ${x.name}`}, ...x.values.map((value) => ({name: value}))],
        y.values.map((value, j) => [value, ...x.values.map((_, i) => short(cellAt(i, j)))]),
        `${section.title} as a table`);
    return [chart.figure, folded("The same as a table", table)];
}

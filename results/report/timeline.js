/* What every pipe did when: a row a pipe, a block an event, or several that are too short. */
const ROW = 30;

function timeline(section) {
    const pipes = section.pipes.filter((pipe) => pipe.blocks.length > 0);
    const rows = pipes.length;
    const texts = section.instructions.map(([line, text]) => `line ${line}: ${text}`);
    const rowOf = (y) => rows - 1 - Math.floor(y);
    const isWait = (block) => block[3] === 1 && block[4] === 0;

    /* The first block that ends after `time`: they are in order. */
    function firstAfter(blocks, time) {
        let low = 0, high = blocks.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (blocks[middle][0] + blocks[middle][1] <= time)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    function drawBlock(chart, ctx, block, top, height) {
        const left = chart.x(block[0]), width = chart.x(block[0] + block[1]) - left;
        const busy = block.length > 3 ? block[4] / block[1] : 1;
        if (isWait(block)) {
            ctx.globalAlpha = 0.35;
            ctx.fillRect(left, top + height / 2 - 1, width, 2);
            return;
        }
        ctx.globalAlpha = Math.max(0.12, busy);
        ctx.fillRect(left, top, width - (width > 6 ? 1 : 0), height);
        ctx.globalAlpha = 1;
        if (width > 70)
            drawText(chart, ctx, block, left, width, top + height / 2);
    }

    function drawText(chart, ctx, block, left, width, middle) {
        const from = Math.max(left, chart.box.left);
        ctx.save();
        ctx.beginPath();
        ctx.rect(from, middle - 20, left + width - from - 4, 40);
        ctx.clip();
        ctx.fillStyle = colour("--ground");
        ctx.font = FONT;
        ctx.textAlign = "left";
        ctx.textBaseline = "middle";
        ctx.fillText(block[3] > 1 ? `${countText(block[3])} events` : section.instructions[block[2]][1]
            .replace(/^\S+ +/, ""), from + 4, middle);
        ctx.restore();
    }

    function draw(chart, ctx) {
        const {min, max} = chart.shown("x");
        pipes.forEach((pipe, row) => {
            const top = chart.y(rows - row - 0.12), height = chart.y(rows - row - 0.88) - top;
            ctx.fillStyle = colour(`--c${row % 8}`);
            for (let i = firstAfter(pipe.blocks, min); i < pipe.blocks.length && pipe.blocks[i][0] < max; i++) {
                drawBlock(chart, ctx, pipe.blocks[i], top, height);
                ctx.fillStyle = colour(`--c${row % 8}`);
            }
        });
    }

    function read(chart, x, y) {
        const pipe = pipes[rowOf(y)], block = pipe?.blocks[firstAfter(pipe.blocks, x)];
        if (!block || block[0] > x)
            return pipe ? `${pipe.name} at ${timeText(x)}: idle` : "";
        const when = `${timeText(block[0])} to ${timeText(block[0] + block[1])}, ${timeText(block[1])}`;
        const what = block[3] > 1
            ? `${countText(block[3])} events, ${percentText(block[4] / block[1])} busy, the first `
            : isWait(block) ? "waits: " : "";
        return `${pipe.name}, ${when}: ${what}${texts[block[2]]}`;
    }

    const chart = new Chart({
        label: `${section.title}: what each of ${rows} pipes does over ${timeText(section.end_ns)}`,
        hint: "Drag over a piece of time to look closer, double-click to see all.",
        height: () => rows * ROW + 60,
        x: {min: 0, max: section.end_ns, text: shortTimeText},
        y: {min: 0, max: rows, room: ROW - 1, size: 110,
            names: pipes.map((pipe) => `${pipe.name} ${percentText(pipe.share)}`).reverse()},
        draw, read,
    });
    const table = tableOf(
        [{name: "pipe"}, {name: "busy", unit: "ns"}, {name: "share of the time", unit: "share"},
            {name: "events", unit: "count"}],
        section.pipes.map((pipe) => [pipe.name, pipe.busy_ns, pipe.share,
            pipe.blocks.reduce((sum, block) => sum + (block[3] ?? 1), 0)]),
        `${section.title} as a table`);
    return [chart.figure, folded("The same as a table", table)];
}

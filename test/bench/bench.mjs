// npm run bench: what the tool costs, as ratios with their spread. See CONTRIBUTING.md; `--help` lists the options.
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { createStage, ROOT } from './homes.mjs';
import { reportText } from './report.mjs';
import { openStores } from './stores.mjs';

const PARTS = ['commands', 'paid', 'limits', 'growth', 'memory', 'database', 'fleet'];

const HELP = `npm run bench -- [options]

  --only <part,…>      ${PARTS.join(', ')} (default: all)
  --store <name,…>     libsql, postgres (default: both, where a PostgreSQL server is installed)
  --postgres <url>     an empty database to measure on, in place of a server of its own
  --rounds <n>         rounds of each part (default: each part's own)
  --rows <n,…>         sizes of the part growth (default: 100,10000,1000000)
  --requests <n>       paid requests of the part memory (default: 10000)
  --tool <folder>      the checkout or the installed package that is measured (default: this one)
  --json               one JSON document instead of tables
  --out <file>         that document into a file, too
  --help
`;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: PARTS.join(',') },
    store: { type: 'string', default: 'libsql,postgres' },
    postgres: { type: 'string' },
    rounds: { type: 'string' },
    rows: { type: 'string', default: '100,10000,1000000' },
    requests: { type: 'string', default: '10000' },
    tool: { type: 'string', default: ROOT },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const listOf = (text, known, what) => {
  const all = text.split(',');
  for (const one of all) if (!known.includes(one)) throw new Error(`--${what} takes ${known.join(', ')}; not ${one}`);
  return all;
};

async function measure() {
  const parts = listOf(options.only, PARTS, 'only');
  const { stores, missing, close } = await openStores(
    listOf(options.store, ['libsql', 'postgres'], 'store'),
    options.postgres,
  );
  const report = {
    node: process.version,
    cpu: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
    at: new Date().toISOString(),
    stores: stores.map(({ name }) => name),
    missing,
    parts: [],
  };
  try {
    for (const name of parts) {
      const part = await import(`./parts/${name}.mjs`);
      const rounds = options.rounds === undefined ? part.rounds : Number(options.rounds);
      const say = (text) => process.stderr.write(`\r\x1b[K${name}: ${text}`);
      const began = performance.now();
      const stage = createStage(options.tool);
      try {
        const lines = await part.run({
          stage,
          stores,
          rounds,
          say,
          rows: options.rows.split(',').map(Number),
          requests: Number(options.requests),
        });
        const seconds = Math.round((performance.now() - began) / 1000);
        report.parts.push({ part: name, title: part.title, rounds, seconds, lines });
      } finally {
        await stage.close();
        process.stderr.write('\r\x1b[K');
      }
      if (!options.json) process.stdout.write(reportText({ ...report, parts: report.parts.slice(-1) }));
    }
  } finally {
    await close();
  }
  const text = `${JSON.stringify(report, null, 2)}\n`;
  if (options.out) writeFileSync(options.out, text);
  if (options.json) process.stdout.write(text);
}

if (options.help) process.stdout.write(HELP);
else await measure();

import { postgresIsInstalled, startPostgres } from '../../store/postgres.ts';
import { drawn } from '../world/chance.ts';
import { play } from './play.ts';
import { CUSTOMERS, makeTemplate, type Setting, USUAL } from './stage.ts';

/** What customers do that comes to the same whatever it is done on, if nothing goes wrong. */
const DOES = [
  'comes again',
  'asks for the order',
  'asks for a refund',
  'sends dust into the vault',
  'pays the vault once more',
];

function castOf(seed: number): Set<string> {
  const keys = CUSTOMERS.flatMap((name) => [
    `cast: ${name}`,
    ...DOES.flatMap((what) => (what === 'comes again' ? [what] : [`${what} 1`, `${what} 2`])).map(
      (what) => `cast: ${name} ${what}`,
    ),
  ]);
  return new Set(keys.filter((key) => drawn(seed, `compared ${key}`) < 0.6));
}

/**
 * The same people on libsql and on PostgreSQL, on a cluster of nodes and on the ledger in the process, by a
 * call and over HTTP, with our payer and with the stock x402 client, with nothing going wrong: the same books at the end. PostgreSQL is left out where it is not installed.
 */
export async function compare(args: readonly string[]): Promise<number> {
  const count = Number(args[args.indexOf('--compare') + 1] ?? 3);
  const server = postgresIsInstalled ? await startPostgres() : null;
  const settings: Record<string, Setting> = {
    'libsql, nodes': USUAL,
    'libsql, embedded': { ...USUAL, chain: 'embedded' },
    'libsql, nodes, over HTTP': { ...USUAL, door: 'http' },
    'libsql, nodes, the stock x402 client': { ...USUAL, payer: 'stock' },
    ...(server && { 'postgres, nodes': { ...USUAL, postgres: server } }),
  };
  const template = await makeTemplate();
  try {
    for (let seed = 1; seed <= count; seed++) {
      const schedule = { seed, only: castOf(seed), noise: false };
      const found: (readonly [string, string])[] = [];
      for (const [name, setting] of Object.entries(settings)) {
        const { violation, books } = await play(template, schedule, setting);
        found.push([name, violation ? `${violation.rule}: ${violation.why}` : JSON.stringify(books, null, 1)]);
      }
      const [first, ...others] = found;
      const other = others.find(([, books]) => books !== first?.[1]);
      if (first && other) {
        process.stdout.write(`Seed ${seed} differs.\n${first.join('\n')}\n${other.join('\n')}\n`);
        return 1;
      }
    }
    process.stdout.write(`${count} seeds with the same books on ${Object.keys(settings).join('; ')}\n`);
    return 0;
  } finally {
    template.close();
    await server?.close();
  }
}

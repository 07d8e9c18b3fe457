import { join } from 'node:path';
import Sqlite from 'libsql';
import { counting, countsOf, familyOf, syncsDuring } from '../counted.mjs';
import { pause } from '../homes.mjs';
import { openPayer } from '../payer.mjs';
import { startPeer } from '../peer.mjs';
import { line } from '../statistics.mjs';

/**
 * What a paid search leaves and does in the databases: the services' own, and the ledger of the embedded cluster. The
 * peer has a ledger alone.
 */
export const title = 'Databases, per paid search (challenge included)';
export const rounds = 5;

const CALLS = 60;

export async function run({ stage, stores, rounds, say }) {
  const peer = await counted(stage, null, (env) => startPeer(stage, env));
  const ours = [];
  for (const store of stores) {
    const home = stage.folder();
    const args = await store.serveArgs();
    ours.push(
      await counted(stage, store, async (env) => ({
        home,
        databaseUrl: args.at(-1),
        ...(await stage.serve(home, { args, env })),
      })),
    );
  }
  for (let round = -1; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`);
    for (const one of [peer, ...ours]) await one.round(round >= 0);
  }
  return [peer, ...ours].flatMap((one) => linesOf(one, peer));
}

async function counted(stage, store, start) {
  const { file, env } = counting(stage);
  const server = await start(env);
  const payer = await openPayer(server);
  const isPostgres = store?.name === 'postgres';
  const pids = () => [server.pid, ...(isPostgres && store.pid ? familyOf(store.pid) : [])];
  const seen = { statements: [], syncs: [], one: [], bytes: [], ledgerBytes: [] };

  const pay = async (clients) => {
    const signed = await payer.sign(await payer.challenges(CALLS, clients));
    return payer.pay(signed, clients);
  };
  return {
    seen,
    store: store?.name ?? 'peer',
    async round(counts) {
      const before = await countsOf(server.pid, file);
      const [bytes, ledgerBytes] = await sizes(server, store);
      const syncs = await syncsDuring(stage, pids(), () => pay(8));
      const after = await countsOf(server.pid, file);
      await pause(300);
      const [bytesAfter, ledgerAfter] = await sizes(server, store);
      const alone = await syncsDuring(stage, pids(), () => pay(1));
      if (!counts) return;
      seen.statements.push((after.statements - before.statements) / CALLS);
      seen.syncs.push(syncs / CALLS);
      seen.one.push(alone / CALLS);
      seen.bytes.push((bytesAfter - bytes) / CALLS / 1024);
      seen.ledgerBytes.push((ledgerAfter - ledgerBytes) / CALLS / 1024);
    },
  };
}

/** Bytes in use of the services' database and of the ledger. */
async function sizes({ home, databaseUrl }, store) {
  const ledger = pagesOf(join(home, 'ledger.db'));
  if (store === null) return [Number.NaN, ledger];
  if (store.name === 'libsql') return [pagesOf(join(home, 'service.db')), ledger];
  const [{ bytes }] = await store.ask(databaseUrl, 'select pg_database_size(current_database()) as bytes');
  return [Number(bytes), ledger];
}

function pagesOf(path) {
  const database = new Sqlite(path, { timeout: 15_000 });
  const ask = (name) => Object.values(database.prepare(`pragma ${name}`).all()[0])[0];
  const bytes = (ask('page_count') - ask('freelist_count')) * ask('page_size');
  database.close();
  return bytes;
}

function linesOf({ store, seen }, peer) {
  const to = (name, unit, key, goal) =>
    line(name, unit, {
      store,
      values: seen[key],
      ...(store === 'peer' ? {} : { against: peer.seen[key], to: 'peer' }),
      goal,
    });
  return [
    to('statements on libsql files', '', 'statements', store === 'libsql' ? '≤ 20' : undefined),
    to('syncs to the disk, 8 clients', '', 'syncs', store === 'peer' ? undefined : '≤ 2'),
    to('syncs to the disk, one client', '', 'one'),
    ...(store === 'peer'
      ? []
      : [line("bytes of the services' database", 'KB', { store, values: seen.bytes, goal: '≤ 10' })]),
    to('bytes of the ledger', 'KB', 'ledgerBytes'),
  ];
}

import { residentMb } from '../homes.mjs';
import { openPayer } from '../payer.mjs';
import { line } from '../statistics.mjs';

/** Memory that a server holds while it answers paid searches: what grows with each of them would grow for ever. */
export const title = 'Memory after paid requests';
/** How often it is looked at on the way. */
export const rounds = 10;

const BATCH = 200;
const WARM = 400;

/** On the first database alone: it takes minutes. */
export async function run({ stage, stores: [store], rounds, requests, say }) {
  const server = await stage.serve(stage.folder(), { args: await store.serveArgs() });
  await paid(server, WARM);
  const warm = residentMb(server.pid);
  const held = [];
  for (let step = 0; step < rounds; step++) {
    say(`${Math.round((step * requests) / rounds)} of ${requests} requests`);
    await paid(server, Math.ceil(requests / rounds));
    held.push(residentMb(server.pid));
  }
  const last = held.slice(-3);
  return [
    line(`farelock serve, after ${WARM} paid requests`, 'MB', { store: store.name, values: [warm] }),
    line(`after ${requests.toLocaleString('en-US')} more`, 'MB', {
      store: store.name,
      values: last,
      against: last.map(() => warm),
      to: 'itself before',
    }),
  ];
}

/** From a new wallet, whose history is short. The next calls are signed while the ones before are paid. */
async function paid(server, count) {
  const payer = await openPayer(server);
  const signedBatch = async (size) => payer.sign(await payer.challenges(size));
  let left = count;
  let next = signedBatch(Math.min(BATCH, left));
  while (left > 0) {
    const signed = await next;
    left -= signed.length;
    next = left > 0 ? signedBatch(Math.min(BATCH, left)) : Promise.resolve([]);
    await payer.pay(signed, 8);
  }
}

import { cpuSeconds, pause } from '../homes.mjs';
import { openPayer } from '../payer.mjs';
import { startPeer } from '../peer.mjs';
import { line, percentile } from '../statistics.mjs';

/**
 * Paid searches against the stock x402 server with a handler that does nothing, each in a process of its own, on an
 * embedded cluster of its own. The client's process is the same for both, and signs before the clock starts.
 */
export const title = 'Paid calls, against a server on the stock x402 classes';
export const rounds = 9;

const FEW = { clients: 8, calls: 64 };
const MANY = { clients: 64, calls: 192 };

export async function run({ stage, stores, rounds, say }) {
  const peer = await measured(await startPeer(stage));
  const ours = [];
  for (const store of stores) {
    const server = await stage.serve(stage.folder(), { args: await store.serveArgs() });
    ours.push({ store: store.name, ...(await measured(server)) });
  }
  const all = [peer, ...ours];
  for (let round = -1; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`);
    // Whoever comes first in a round comes last in the next.
    for (const one of round % 2 === 0 ? all : all.toReversed()) await one.round(round >= 0);
  }
  return ours.flatMap((one) => linesOf(one, peer));
}

async function measured(server) {
  const payer = await openPayer(server);
  const seen = { challengeCpu: [], paidCpu: [], wholeCpu: [], rate: [], p50: [], p95: [], few50: [], few95: [] };

  /** What is under way in the background from before is let go by. */
  async function batch({ clients, calls }) {
    const begun = cpuSeconds(server.pid);
    const required = await payer.challenges(calls, clients);
    const challenged = cpuSeconds(server.pid);
    const signed = await payer.sign(required);
    await pause(150);
    const signedAt = cpuSeconds(server.pid);
    const { seconds, latencies } = await payer.pay(signed, clients);
    await pause(150);
    const challengeCpu = ((challenged - begun) * 1000) / calls;
    const paidCpu = ((cpuSeconds(server.pid) - signedAt) * 1000) / calls;
    return { challengeCpu, paidCpu, rate: calls / seconds, latencies };
  }

  return {
    seen,
    async round(counts) {
      const few = await batch(FEW);
      const many = await batch(MANY);
      if (!counts) return;
      seen.challengeCpu.push((few.challengeCpu + many.challengeCpu) / 2);
      seen.paidCpu.push((few.paidCpu + many.paidCpu) / 2);
      seen.wholeCpu.push((few.challengeCpu + few.paidCpu + many.challengeCpu + many.paidCpu) / 2);
      seen.rate.push(few.rate);
      seen.few50.push(percentile(few.latencies, 0.5));
      seen.few95.push(percentile(few.latencies, 0.95));
      seen.p50.push(percentile(many.latencies, 0.5));
      seen.p95.push(percentile(many.latencies, 0.95));
    },
  };
}

function linesOf({ store, seen }, peer) {
  const to = (name, unit, key, goal) =>
    line(name, unit, { store, values: seen[key], against: peer.seen[key], to: 'peer', goal });
  return [
    to('server CPU of a paid search, challenge included', 'ms', 'wholeCpu', '≤ 1.5'),
    to('server CPU of the paid request alone', 'ms', 'paidCpu'),
    to('server CPU of its challenge', 'ms', 'challengeCpu'),
    to('paid searches a second, 8 clients', '/s', 'rate', '≥ 0.8'),
    to('p50 at 8 clients', 'ms', 'few50'),
    to('p95 at 8 clients', 'ms', 'few95'),
    to('p50 at 64 clients', 'ms', 'p50'),
    to('p95 at 64 clients', 'ms', 'p95'),
    line('p95 over p50 at 64 clients', 'ms', {
      store,
      values: seen.p95,
      against: seen.p50,
      to: 'own p50',
      goal: '≤ 3',
    }),
  ];
}

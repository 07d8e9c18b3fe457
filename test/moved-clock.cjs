// Preloaded into Node (NODE_OPTIONS=--require): the clock of the process, as a test has set it. It runs on from
// TEST_CLOCK_STARTS_MS, and since TEST_CLOCK_STARTED_NS of the machine's monotonic clock, which is the same in every
// process: they agree on the time, whatever the machine's calendar says. The tool has no such switch; what it starts
// inherits the variables, and with them the clock. With TEST_CLOCK_RATE it runs so many times as fast, timers included.
const number = (name, fallback) => {
  const text = process.env[name] ?? fallback;
  if (!/^\d+$/.test(text ?? '')) throw new Error(`${name} is not a number`);
  return BigInt(text);
};
const startsMs = number('TEST_CLOCK_STARTS_MS');
const startedNs = number('TEST_CLOCK_STARTED_NS');
const rate = number('TEST_CLOCK_RATE', '1');

const RealDate = Date;
const now = () => Number(startsMs + ((process.hrtime.bigint() - startedNs) * rate) / 1_000_000n);
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, as) => Reflect.construct(target, given.length === 0 ? [now()] : given, as),
  apply: (target) => new target(now()).toString(),
  get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
});
if (rate !== 1n) {
  for (const name of ['setTimeout', 'setInterval']) {
    const real = globalThis[name];
    const faster = (work, ms, ...given) => real(work, ms / Number(rate), ...given);
    globalThis[name] = Object.assign(faster, real);
  }
}

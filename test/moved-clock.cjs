// Preloaded into Node (NODE_OPTIONS=--require): the clock of the process, as a test has set it. It runs on from
// TEST_CLOCK_STARTS_MS, and since TEST_CLOCK_STARTED_NS of the machine's monotonic clock, which is the same in every
// process: they agree on the time, whatever the machine's calendar says. The tool has no such switch; what it starts
// inherits the variables, and with them the clock. TEST_CLOCK_SPEED makes it run so many times as fast, and whoever waits
// in JavaScript wakes so much earlier; what the system itself measures (AbortSignal.timeout) keeps its time.
// TEST_CLOCK_JUMPS='5000:90000' sets it 90 s ahead, 5 s after the process began.
const [startsMs, startedNs] = ['TEST_CLOCK_STARTS_MS', 'TEST_CLOCK_STARTED_NS'].map((name) => {
  const text = process.env[name];
  if (!/^\d+$/.test(text ?? '')) throw new Error(`${name} is not a number`);
  return BigInt(text);
});

const RealDate = Date;
const speed = BigInt(process.env.TEST_CLOCK_SPEED ?? 1);
const [jumpsAfterMs, jumpMs] = (process.env.TEST_CLOCK_JUMPS ?? '0:0').split(':').map(Number);
const jumpsAtNs = process.hrtime.bigint() + BigInt(jumpsAfterMs) * 1_000_000n;
const now = () => {
  const atNs = process.hrtime.bigint();
  return Number(startsMs + ((atNs - startedNs) * speed) / 1_000_000n) + (atNs >= jumpsAtNs ? jumpMs : 0);
};
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, as) => Reflect.construct(target, given.length === 0 ? [now()] : given, as),
  apply: (target) => new target(now()).toString(),
  get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
});

if (speed > 1n) {
  const times = Number(speed);
  const measured = performance.now.bind(performance);
  performance.now = () => measured() * times;
  for (const name of ['setTimeout', 'setInterval']) {
    const set = globalThis[name];
    globalThis[name] = Object.assign((run, ms, ...given) => set(run, ms / times, ...given), set);
  }
}

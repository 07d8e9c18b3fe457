// Preloaded into Node (NODE_OPTIONS=--require): the clock of the process runs as ever, TEST_CLOCK_AHEAD_MS beside the
// machine's. The tool has no such switch; what it starts inherits both variables, and with them the clock.
const aheadMs = Number(process.env.TEST_CLOCK_AHEAD_MS);
if (!Number.isFinite(aheadMs)) throw new Error('TEST_CLOCK_AHEAD_MS is not a number of milliseconds');

const RealDate = Date;
const now = () => RealDate.now() + aheadMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, as) => Reflect.construct(target, given.length === 0 ? [now()] : given, as),
  apply: (target) => new target(now()).toString(),
  get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
});

import { createHash } from 'node:crypto';
import { type Change, createChance, drawn, type Schedule } from './chance.ts';
import { quiet, takeMachine } from './machine.ts';

// A world in simulated time: everything of ours that takes part runs in this one process, and every moment at which it
// waits for something outside of itself is an event in one queue. The world takes the next event, lets what it wakes run
// until all of it waits again, looks whether the books are still right, and takes the next.
//
// - Time moves only from event to event. Clocks, timers and random bytes of the whole process are the world's
//   (machine.ts), so that code which asks for them past its ports gets the same in every run.
// - Chance is by name (chance.ts): how long a step takes, and what goes wrong with it, follow from the seed and from who
//   does what for the how-manieth time. A run is its seed; a part of it is its seed and the keys of what goes wrong.
// - Computers (computer.ts) have a clock of their own and run processes that die: at each boundary, before or after.
//   What a dead process waits for never comes. Its computer starts the next one from what is on the disk.
// - Disks (disk.ts) lose what nobody has waited for when the power of a computer fails, and everything on it dies.
// - Boundaries: `process.boundary(name, work)` around each call to something outside. databases.ts wraps a database,
//   network.ts a service; a world adds its own (flights-world/chain.ts, airline.ts).
//
// To add a world of other players: a folder beside flights-world/ with a function `play(world)` that opens its services
// (world.computer), starts its players (world.play: they run to their end, or the world fails), declares its invariants
// (world.always after each step that `world.touched` what they are about, and its own look at the books after `world.run()` has come to
// rest), and names what a long run must have seen (world.saw; a list of them beside the players). Then a line in WORLDS
// of main.ts: twice the same, shrinking, stories, counts and the command line come with it. What a player does is told
// (world.tell) in the words that a person would want to read when a seed fails. Players are parts of the cast
// (chance.takesPart), so that shrinking leaves out those who have nothing to do with it.

/** One line of what happened. */
export interface Told {
  readonly atMs: number;
  readonly who: string;
  readonly what: string;
}

export interface Violation {
  /** The rule that was broken: the same one is looked for when the schedule shrinks. */
  readonly rule: string;
  readonly why: string;
}

interface Event {
  readonly atMs: number;
  readonly order: number;
  readonly call: () => void;
  cancelled: boolean;
}

export type World = ReturnType<typeof createWorld>;

/** When every world begins. */
export const BEGINNING_MS = Date.UTC(2026, 10, 21, 9);

export function createWorld(schedule: Schedule) {
  let nowMs = BEGINNING_MS;
  const chance = createChance(schedule, () => nowMs);
  const events = createQueue();
  const story: Told[] = [];
  const seen = new Map<string, number>();
  const rules: { readonly name: string; readonly about: string; readonly check: () => void }[] = [];
  const playing = new Set<string>();
  const trace = createHash('sha256');
  let steps = 0;
  let violation: Violation | null = null;
  const touched = new Set<string>();

  const after = (ms: number, call: () => void): (() => void) => events.add(nowMs + ms, call);
  const violate = (rule: string, why: string): void => {
    violation ??= { rule, why };
  };
  /** Errors that nobody expected are a find. */
  const failed = (rule: string, error: unknown): void =>
    violate(rule, error instanceof Error ? (error.stack ?? error.message) : String(error));

  function check(): void {
    if (touched.size === 0) return;
    const now = new Set(touched);
    touched.clear();
    for (const { name, about, check: look } of rules) {
      if (!now.has(about)) continue;
      try {
        look();
      } catch (error) {
        violate(name, error instanceof Broken ? error.message : String((error as Error).stack));
      }
    }
  }

  return {
    schedule,
    chance,
    now: () => nowMs,
    after,
    sleep: (ms: number): Promise<void> => new Promise((resolve) => void after(ms, resolve)),
    tell(who: string, what: string): void {
      story.push({ atMs: nowMs, who, what });
      trace.update(`${nowMs} ${who} ${what}\n`);
    },
    /** Something that a long run must have seen at least once. */
    saw: (name: string): void => void seen.set(name, (seen.get(name) ?? 0) + 1),
    /** A line that two runs of a seed have in common, and nobody reads. */
    traced: (line: string): void => void trace.update(`${nowMs} ${line}\n`),
    /** A rule that holds after every step that touched what it is about; it throws `broken`. */
    always: (name: string, about: string, look: () => void): void => void rules.push({ name, about, check: look }),
    touched: (what: string): void => void touched.add(what),
    violate,
    failed,
    /** Starts what a player does. The world runs until all have come to their end. */
    play(name: string, work: () => Promise<void>): void {
      playing.add(name);
      work().then(
        () => playing.delete(name),
        (error: unknown) => {
          playing.delete(name);
          failed(`${name} is never at a loss`, error);
        },
      );
    },
    /** Until the players are done, or for as long as is said; a world that is not over then is stuck. */
    async run(mostMs: number, isOver: () => boolean = () => playing.size === 0): Promise<void> {
      const endMs = nowMs + mostMs;
      for (;;) {
        await quiet();
        check();
        if (violation || isOver()) return;
        const event = events.next();
        if (!event || event.atMs > endMs) {
          return violate('everybody comes to an end', `still under way: ${[...playing].join(', ')}`);
        }
        nowMs = Math.max(nowMs, event.atMs);
        steps++;
        event.call();
      }
    },
    outcome: () => ({
      violation,
      story: story as readonly Told[],
      changes: chance.changes as readonly Change[],
      seen: seen as ReadonlyMap<string, number>,
      steps,
      tookMs: nowMs - BEGINNING_MS,
      digest: trace.copy().digest('hex'),
    }),
    /** Puts the world's time and chance in the place of the machine's; the result gives it back. */
    take: (sync?: (file: number) => Promise<void>) =>
      takeMachine({
        sync,
        now: () => nowMs,
        after,
        random: (block) =>
          createHash('sha512')
            .update(`${drawn(schedule.seed, 'bytes')} ${block}`)
            .digest(),
      }),
  };
}

/** What a rule that does not hold throws. */
export class Broken extends Error {}

export const broken = (why: string): never => {
  throw new Broken(why);
};

/** Events by their time, and those of one moment in the order in which they were added. */
function createQueue() {
  const heap: Event[] = [];
  let order = 0;
  const isBefore = (a: Event, b: Event) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
  const swap = (a: number, b: number) => {
    const [one, other] = [heap[a] as Event, heap[b] as Event];
    heap[a] = other;
    heap[b] = one;
  };
  const at = (place: number) => heap[place] as Event;
  function rise(from: number): void {
    for (let place = from; place > 0; ) {
      const parent = (place - 1) >> 1;
      if (!isBefore(at(place), at(parent))) return;
      swap(place, parent);
      place = parent;
    }
  }
  function sink(): void {
    for (let place = 0; ; ) {
      const [left, right] = [2 * place + 1, 2 * place + 2];
      let first = place;
      if (left < heap.length && isBefore(at(left), at(first))) first = left;
      if (right < heap.length && isBefore(at(right), at(first))) first = right;
      if (first === place) return;
      swap(place, first);
      place = first;
    }
  }
  function take(): Event | undefined {
    const first = heap[0];
    const last = heap.pop();
    if (last && heap.length > 0) {
      heap[0] = last;
      sink();
    }
    return first;
  }
  return {
    add(atMs: number, call: () => void): () => void {
      const event: Event = { atMs, order: order++, call, cancelled: false };
      heap.push(event);
      rise(heap.length - 1);
      return () => {
        event.cancelled = true;
      };
    },
    next(): Event | undefined {
      for (;;) {
        const event = take();
        if (!event?.cancelled) return event;
      }
    },
  };
}

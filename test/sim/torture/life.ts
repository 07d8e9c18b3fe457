import type { Ran } from '../../e2e/farelock.ts';
import type { openPoints } from './killer.ts';
import { type Options, type Place, pause, type Who } from './places.ts';

/** What a run of the tool says of itself when it fails. */
interface Failure {
  readonly error?: {
    readonly code: string;
    readonly next?: readonly string[];
    readonly detail?: Readonly<Record<string, unknown>>;
  };
}

interface StepOptions extends Options {
  /** Codes of errors that are its end too: what it asks for has happened already. */
  readonly ends?: readonly string[];
  /** The paid call that it makes, once. */
  readonly buys?: string;
}

/** How often a person tries again before he gives up. */
const TRIES = 12;
/** Every so many of those that go on after a kill are killed in turn. */
const AGAIN = 3;

/** As many calls as a service makes over what some travellers have left to it. */
const CALLS_LEFT = 160;

/** One traveller's, operator's or partner's story, in which each step is killed and taken up again. */
export interface Life {
  readonly place: Place;
  readonly number: number;
  readonly chance: () => number;
  /** @returns what the command printed in the end. */
  step<T>(who: Who, args: readonly string[], options?: StepOptions): Promise<T & Failure>;
  /** A command that nobody kills, and that does what it says. */
  run<T>(who: Who, args: readonly string[], options?: Options): Promise<T>;
  /** Starts a service, and kills it, or stops it once nothing is left to do. @returns whether it was killed */
  unattended(at: 'any call' | 'none', isDone: () => boolean): Promise<boolean>;
  expect(holds: boolean, what: string): void;
}

/** Of each paid call: how often it may have been bought, by what the tool has shown. */
export type Purchases = Map<string, { least: number; most: number }>;

export interface LifeGiven {
  readonly kind: string;
  readonly place: Place;
  readonly number: number;
  readonly chance: () => number;
  readonly points: ReturnType<typeof openPoints>;
  readonly purchases: Purchases;
  readonly problems: string[];
}

export function openLife(given: LifeGiven): Life {
  const { kind, place, points, purchases, problems } = given;
  const expect = (holds: boolean, what: string) => {
    if (!holds) problems.push(`${kind}, life ${given.number}: ${what}`);
  };
  let strikes = 0;

  /** Kills a command, and now and then the one that goes on with it. @returns the last that ended by itself */
  async function struck(who: Who, args: readonly string[], options: StepOptions): Promise<Ran> {
    const name = `${kind}, ${place.victim} dies, ${nameOf(args)}`;
    for (;;) {
      const at = points.next(name);
      const ran = await place.strike(who, args, at, options);
      points.ended(name, ran, at, ran.killed);
      if (!ran.killed || place.victim === 'service') return ran;
      if (options.buys !== undefined && ran.stdout !== '') purchased(options.buys, 0, 1);
      if (++strikes % AGAIN !== 0) return place.run(who, args, options);
    }
  }

  function purchased(resource: string, least: number, most: number): void {
    const known = purchases.get(resource) ?? { least: 0, most: 0 };
    purchases.set(resource, { least: known.least + least, most: known.most + most });
  }

  return {
    ...given,
    expect,
    async step<T>(who: Who, args: readonly string[], options: StepOptions = {}) {
      if (options.buys !== undefined) purchased(options.buys, 1, 1);
      let ran = await struck(who, args, options);
      for (let tries = 0; tries < TRIES; tries++) {
        const { error } = parsed<Failure>(ran);
        if (error === undefined || options.ends?.includes(error.code) === true) return parsed<T & Failure>(ran);
        // A person does what is told, or the same again.
        const resumed = given.chance() < 0.5 && (await told(place, who, args, error.next ?? [], options));
        // Its answer was shown: whoever asks once more pays once more.
        if (resumed && options.buys !== undefined) purchased(options.buys, 0, 1);
        await pause(tries * 100);
        ran = await place.run(who, args, options);
      }
      throw new Error(`${kind}: farelock ${args.join(' ')} never ends: ${ran.exitCode} ${ran.stdout}${ran.stderr}`);
    },
    async run<T>(who: Who, args: readonly string[], options: Options = {}) {
      const ran = await place.run(who, args, options);
      if (ran.exitCode !== 0) throw new Error(`${kind}: ${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
      return ran.json<T>();
    },
    async unattended(when, isDone) {
      const name = `${kind}, a service by itself`;
      const at = when === 'none' ? 0 : points.next(name, CALLS_LEFT);
      const told = await place.strikeWorker(at, isDone);
      points.ended(name, told, at, told.killed);
      return told.killed;
    },
  };
}

/**
 * Runs what the tool told, unless it is the same command again or a placeholder is left in it.
 * @returns whether a payment was sent again, and answered
 */
async function told(
  place: Place,
  who: Who,
  args: readonly string[],
  next: readonly string[],
  options: Options,
): Promise<boolean> {
  const [line = ''] = next;
  const words = line.split(' ').slice(1);
  const isPlain = line.startsWith('farelock ') && !/[<"'…|]/.test(line);
  const isSame = words.join(' ').startsWith(args.slice(0, 3).join(' '));
  if (!isPlain || isSame || words.includes('--watch')) return false;
  const { exitCode } = await place.run(who, words, options);
  return exitCode === 0 && words[0] === 'payments' && words[1] === 'resume';
}

function parsed<T>(ran: Ran): T {
  try {
    return JSON.parse(ran.stdout) as T;
  } catch {
    throw new Error(`exit ${ran.exitCode}, and no document: ${ran.stdout}${ran.stderr}`);
  }
}

/** The words of a command before its first argument. */
export const nameOf = (args: readonly string[]): string => {
  const end = args.findIndex((word) => !/^[a-z-]+$/.test(word) || word.startsWith('--'));
  return args.slice(0, end < 0 ? 3 : Math.min(end, 3)).join(' ');
};

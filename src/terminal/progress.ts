import { isSpoken, type Paint } from './paint.ts';
import type { Output } from './streams.ts';

/** The sign of life while something takes time: a spinner on a terminal, off it one line a phase. */
interface Progress {
  phase(text: string): void;
  settle(): void;
  /** A wait is over: whoever has looked away is called, as far as the terminal can. */
  ended(text: string): void;
  /** Writes between two frames of the spinner. */
  around(write: () => void): void;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Nobody looks away for less. */
const LONG_WAIT_MS = 5_000;
/** A phase that takes longer shows for how long it has. */
const SHOWN_AFTER_MS = 3_000;

export function createProgress(
  stderr: Output,
  quiet: boolean,
  paint: Paint,
  environment: Environment,
): Progress {
  // A terminal that can't go back over a line, or one that a build keeps as a log, gets lines.
  const canSpin = stderr.isTTY && !isSpoken(paint) && environment.TERM !== 'dumb' && !environment.CI;
  const signals = canSpin ? signalsOf(environment) : null;
  let current: string | null = null;
  let spinner: { text: string; stop(): unknown; clear(): unknown; render(): unknown } | null = null;
  let loading = false;
  /** By the monotonic clock: of the phase, and of the first one since nothing was waited for. */
  let phaseAtMs = 0;
  let waitAtMs: number | null = null;
  let ticking: NodeJS.Timeout | null = null;

  const textNow = (): string => {
    const ms = performance.now() - phaseAtMs;
    return paint.dim(ms < SHOWN_AFTER_MS ? `${current}` : `${current} · ${Math.floor(ms / 1000)} s`);
  };
  const spin = async (stream: NodeJS.WriteStream) => {
    loading = true;
    const { default: ora } = await import('ora');
    loading = false;
    if (current === null) return;
    // discardStdin would put the terminal in raw mode, and Ctrl-C would no longer reach us as a signal.
    // Its own colours know nothing of NO_COLOR and --no-color.
    const color = paint.accent('-') === '-' ? false : 'cyan';
    spinner = ora({ text: textNow(), stream, color, discardStdin: false, isEnabled: true }).start();
    ticking = setInterval(() => {
      if (spinner) spinner.text = textNow();
    }, 1_000);
    ticking.unref();
    if (signals) stderr.write(signals.begun);
  };
  const settle = () => {
    current = null;
    waitAtMs = null;
    if (ticking) clearInterval(ticking);
    if (spinner && signals) stderr.write(signals.over);
    spinner?.stop();
    spinner = null;
  };

  return {
    phase(text) {
      if (quiet || text === current) return;
      current = text;
      phaseAtMs = performance.now();
      waitAtMs ??= phaseAtMs;
      if (!canSpin || !stderr.stream) {
        stderr.write(`${text.replace(/…$/, '')}…\n`);
        return;
      }
      if (spinner) spinner.text = textNow();
      else if (!loading) void spin(stderr.stream);
    },
    settle,
    ended(text) {
      const isLong = waitAtMs !== null && performance.now() - waitAtMs > LONG_WAIT_MS;
      settle();
      if (isLong && signals) stderr.write(`${signals.notify(text)}\u0007`);
    },
    around(write) {
      spinner?.clear();
      write();
      spinner?.render();
    },
  };
}

const osc = (text: string): string => `\u001b]${text}\u001b\\`;

/**
 * What a terminal understands beside the bell: progress in its tab (OSC 9;4, of ConEmu) and a notification (OSC 9 of
 * iTerm2, OSC 99 of kitty). One that is not known gets neither, for it might print them.
 */
function signalsOf({ TERM_PROGRAM, TERM, WT_SESSION, ConEmuANSI }: Environment): {
  readonly begun: string;
  readonly over: string;
  readonly notify: (text: string) => string;
} {
  const hasProgress =
    WT_SESSION !== undefined ||
    ConEmuANSI === 'ON' ||
    TERM_PROGRAM === 'ghostty' ||
    TERM_PROGRAM === 'WezTerm';
  const hasNotification = ['iTerm.app', 'WezTerm', 'ghostty'].includes(TERM_PROGRAM ?? '');
  return {
    begun: hasProgress ? osc('9;4;3') : '',
    over: hasProgress ? osc('9;4;0') : '',
    notify: (text) => (TERM === 'xterm-kitty' ? osc(`99;;${text}`) : hasNotification ? osc(`9;${text}`) : ''),
  };
}

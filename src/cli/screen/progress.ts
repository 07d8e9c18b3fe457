import type { Paint } from '../view/paint.ts';
import type { Output } from './streams.ts';

/** The sign of life while something takes time: a spinner on a terminal, off it one line a phase. */
interface Progress {
  phase(text: string): void;
  settle(): void;
  /** Writes between two frames of the spinner. */
  around(write: () => void): void;
}

export function createProgress(
  stderr: Output,
  quiet: boolean,
  paint: Paint,
  environment: Readonly<Record<string, string | undefined>>,
): Progress {
  // A terminal that can't go back over a line, or one that a build keeps as a log, gets lines.
  const canSpin = stderr.isTTY && environment.TERM !== 'dumb' && !environment.CI;
  let current: string | null = null;
  let spinner: { text: string; stop(): unknown; clear(): unknown; render(): unknown } | null = null;
  let loading = false;

  const spin = async (stream: NodeJS.WriteStream) => {
    loading = true;
    const { default: ora } = await import('ora');
    loading = false;
    if (current === null) return;
    // discardStdin would put the terminal in raw mode, and Ctrl-C would no longer reach us as a signal.
    // Its own colours know nothing of NO_COLOR and --no-color.
    const color = paint.accent('-') === '-' ? false : 'cyan';
    spinner = ora({ text: paint.dim(current), stream, color, discardStdin: false, isEnabled: true }).start();
  };

  return {
    phase(text) {
      if (quiet || text === current) return;
      current = text;
      if (!canSpin || !stderr.stream) {
        stderr.write(`${text}…\n`);
        return;
      }
      if (spinner) spinner.text = paint.dim(text);
      else if (!loading) void spin(stderr.stream);
    },
    settle() {
      current = null;
      spinner?.stop();
      spinner = null;
    },
    around(write) {
      spinner?.clear();
      write();
      spinner?.render();
    },
  };
}

import { mainnetUsdc, plainUsdc, type Usdc } from '../kernel/usdc.ts';
import type { Environment } from './streams.ts';

const ESCAPE = '\u001b';
const END = `${ESCAPE}\\`;

/** Control characters would end the sequence early. */
const isAddress = (url: string): boolean => /^https?:\/\/[!-~]+$/.test(url);

/** Text with a link to a web address (OSC 8); other addresses leave it as it is. */
export const linkText = (text: string, url: string): string =>
  isAddress(url) ? `${ESCAPE}]8;;${url}${END}${text}${ESCAPE}]8;;${END}` : text;

/**
 * True if a stream shows links: never without colour, else as FORCE_HYPERLINK says. If that is unset, never off a
 * terminal, on CI or on a dumb terminal; otherwise by the names that terminals give themselves.
 */
export function supportsLinks(environment: Environment, isTerminal: boolean, wanted: boolean): boolean {
  if (!wanted || environment.NO_COLOR) return false;
  const forced = environment.FORCE_HYPERLINK;
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  if (!isTerminal || environment.TERM === 'dumb' || environment.CI) return false;
  // Inside screen and tmux the variables name the outer terminal.
  if (/^(screen|tmux)/.test(environment.TERM ?? '')) return false;
  if (environment.WT_SESSION || environment.KITTY_WINDOW_ID || environment.KONSOLE_VERSION) return true;
  // GNOME Terminal and its relatives, from 0.50.
  if (Number(environment.VTE_VERSION ?? 0) > 5000) return true;
  if (/^(xterm-kitty|xterm-ghostty|alacritty|foot(-extra)?|wezterm)$/.test(environment.TERM ?? '')) return true;
  const [major = 0, minor = 0] = (environment.TERM_PROGRAM_VERSION ?? '').split('.').map(Number);
  const program = environment.TERM_PROGRAM ?? '';
  if (program === 'iTerm.app') return major > 3 || (major === 3 && minor >= 1);
  if (program === 'vscode') return major > 1 || (major === 1 && minor >= 72);
  return ['WezTerm', 'ghostty', 'Hyper', 'rio', 'Tabby'].includes(program);
}

/** The few styles of the screen. Views take a paint, so that they stay pure and can be tested without colour. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  warn(text: string): string;
  bad(text: string): string;
  accent(text: string): string;
  /** Links text to an address, on terminals that open links. */
  link(text: string, url: string): string;
  /** Writes an amount with its coin, and marks real money. */
  readonly usdc: Usdc;
}

const asIs = (text: string): string => text;

const inOneStyle = (style: (text: string) => string) => ({
  bold: style,
  dim: style,
  good: style,
  warn: style,
  bad: style,
  accent: style,
  link: style,
});
const unstyled = inOneStyle(asIs);
export const plainPaint: Paint = { ...unstyled, usdc: plainUsdc };

/** The style of every text under --plain: tables and fields then drop their columns. */
export const spoken = (text: string): string => text;

const spokenStyles = inOneStyle(spoken);
export const spokenPaint: Paint = { ...spokenStyles, usdc: plainUsdc };

/** True for the paint of --plain: its lines are read aloud. */
export const isSpoken = (paint: Paint): boolean => paint.dim === spoken;

type ColourLevel = 0 | 1 | 2 | 3;

/** Opens a paint at a colour level; level 0 does not load chalk. */
export async function openPaint(
  level: ColourLevel,
  hasLinks = false,
  isPlain = false,
  isRealMoney = () => false,
): Promise<Paint> {
  const usdc: Usdc = (amount) => (isRealMoney() ? mainnetUsdc : plainUsdc)(amount);
  if (isPlain) return { ...spokenStyles, usdc };
  const link = hasLinks ? linkText : asIs;
  if (level === 0) return { ...unstyled, link, usdc };
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level });
  return {
    bold: (text) => chalk.bold(text),
    dim: (text) => chalk.dim(text),
    good: (text) => chalk.green(text),
    warn: (text) => chalk.yellow(text),
    bad: (text) => chalk.red(text),
    accent: (text) => chalk.cyan(text),
    link,
    usdc,
  };
}

/** The colour level of a stream: 0 under NO_COLOR or --no-color, else that of FORCE_COLOR, else 0 off a terminal. */
export function colourLevel(environment: Environment, isTerminal: boolean, wanted: boolean): ColourLevel {
  if (!wanted || environment.NO_COLOR) return 0;
  const forced = environment.FORCE_COLOR;
  if (forced !== undefined && forced !== '') {
    if (forced === '0' || forced === 'false') return 0;
    return forced === '2' ? 2 : forced === '3' ? 3 : 1;
  }
  if (!isTerminal || environment.TERM === 'dumb') return 0;
  return /^(truecolor|24bit)$/.test(environment.COLORTERM ?? '') ? 3 : 1;
}

import { mainnetUsdc, plainUsdc, type Usdc } from '../kernel/usdc.ts';
import { linkText } from './links.ts';

/** The few styles that the screen knows. Views take one, so that they stay pure and can be tested without colour. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  warn(text: string): string;
  bad(text: string): string;
  accent(text: string): string;
  /** Text that leads to an address, on terminals that open links. */
  link(text: string, url: string): string;
  /** An amount with its coin; real money is marked. */
  readonly usdc: Usdc;
}

const asIs = (text: string): string => text;

const unstyled = { bold: asIs, dim: asIs, good: asIs, warn: asIs, bad: asIs, accent: asIs, link: asIs };
export const plainPaint: Paint = { ...unstyled, usdc: plainUsdc };

/** The style of every text under --plain: tables and fields know by it that nobody sees their columns. */
export const spoken = (text: string): string => text;

const spokenStyles = {
  bold: spoken,
  dim: spoken,
  good: spoken,
  warn: spoken,
  bad: spoken,
  accent: spoken,
  link: spoken,
};
export const spokenPaint: Paint = { ...spokenStyles, usdc: plainUsdc };

/** True for a paint of --plain: its lines are read aloud. */
export const isSpoken = (paint: Paint): boolean => paint.dim === spoken;

type ColourLevel = 0 | 1 | 2 | 3;

/** A paint of chalk's at a colour level; level 0 loads nothing. */
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

/**
 * How much colour a stream gets: none where NO_COLOR or --no-color says so, FORCE_COLOR's level where it is set,
 * else none off a terminal.
 */
export function colourLevel(
  environment: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
  wanted: boolean,
): ColourLevel {
  if (!wanted || environment.NO_COLOR) return 0;
  const forced = environment.FORCE_COLOR;
  if (forced !== undefined && forced !== '') {
    if (forced === '0' || forced === 'false') return 0;
    return forced === '2' ? 2 : forced === '3' ? 3 : 1;
  }
  if (!isTerminal || environment.TERM === 'dumb') return 0;
  return /^(truecolor|24bit)$/.test(environment.COLORTERM ?? '') ? 3 : 1;
}

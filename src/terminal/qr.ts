import type { Screen } from './terminal.ts';

/** QR codes in half blocks: two modules to a cell, so that they are square and small. */

/** Light modules around a code; with fewer, cameras do not find it. */
const QUIET = 4;

/** Black on white whatever the terminal's own colours are. */
const BLACK_ON_WHITE = '\u001b[38;5;16;48;5;231m';
const AS_BEFORE = '\u001b[0m';

/**
 * Draws a QR code; null if the screen is too narrow. With colour it is black on white. Without, its light modules have
 * the colour of the terminal's text: right on dark terminals, inverted on light ones, and scanners read both.
 */
export async function qrLines(text: string, { paint, width }: Screen): Promise<string[] | null> {
  const hasColour = paint.bold(' ') !== ' ';
  const { encode } = await import('uqr');
  const { data, size } = encode(text, { ecc: 'M', border: QUIET });
  if (size > width) return null;
  const isDark = (row: number, column: number) => data[row]?.[column] === true;
  const lines: string[] = [];
  for (let row = 0; row < size; row += 2) {
    let line = '';
    for (let column = 0; column < size; column++) {
      // Below the last row of an odd size all is light.
      line += half(isDark(row, column) === hasColour, isDark(row + 1, column) === hasColour);
    }
    lines.push(hasColour ? `${BLACK_ON_WHITE}${line}${AS_BEFORE}` : line);
  }
  return lines;
}

const half = (above: boolean, below: boolean): string => (above ? (below ? '█' : '▀') : below ? '▄' : ' ');

/** A payment of USDC to a wallet, as Solana wallets read it (Solana Pay, transfer request). */
export function solanaPayUrl(wallet: string, mint: string, amount: string | null): string {
  const query = new URLSearchParams({
    ...(amount === null ? {} : { amount }),
    'spl-token': mint,
    label: 'Farelock wallet',
  });
  return `solana:${wallet}?${query.toString().replaceAll('+', '%20')}`;
}

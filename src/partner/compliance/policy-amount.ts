/** A decimal without rounding: `units / 10 ** scale`. */
interface Exact {
  readonly units: bigint;
  readonly scale: number;
}

const exact = (text: string): Exact => {
  const [whole = '0', fraction = ''] = text.split('.');
  return { units: BigInt(whole + fraction), scale: fraction.length };
};

const atScale = ({ units, scale }: Exact, to: number): bigint => units * 10n ** BigInt(to - scale);

const written = ({ units, scale }: Exact): string => {
  const digits = units.toString().padStart(scale + 1, '0');
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  const whole = scale === 0 ? digits : digits.slice(0, -scale);
  return fraction === '' || scale === 0 ? whole : `${whole}.${fraction}`;
};

/** Sums non-negative decimal strings, exactly. */
export function sum(decimals: readonly string[]): string {
  const terms = decimals.map(exact);
  const scale = Math.max(0, ...terms.map((term) => term.scale));
  return written({ units: terms.reduce((total, term) => total + atScale(term, scale), 0n), scale });
}

/** Multiplies two non-negative decimal strings, exactly. */
export function times(a: string, b: string): string {
  const [x, y] = [exact(a), exact(b)];
  return written({ units: x.units * y.units, scale: x.scale + y.scale });
}

/** True when the decimal string `a` is `b` or more. */
export function atLeast(a: string, b: string): boolean {
  const [x, y] = [exact(a), exact(b)];
  const scale = Math.max(x.scale, y.scale);
  return atScale(x, scale) >= atScale(y, scale);
}

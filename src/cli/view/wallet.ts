/** Lamports as SOL: `10`, `9.99999`. */
export function formatSol(lamports: bigint): string {
  const fraction = (lamports % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  return fraction ? `${lamports / 1_000_000_000n}.${fraction}` : `${lamports / 1_000_000_000n}`;
}

/** Whether a memo stands among those of a transaction, as histories list them: `[length] text`, joined by semicolons. */
export const memoStands = (listed: string | null | undefined, memo: string): boolean =>
  (listed ?? '').split('; ').includes(`[${Buffer.byteLength(memo)}] ${memo}`);

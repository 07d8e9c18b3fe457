import { HOUR_MS } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';

/** Seconds from `90`, `90s`, `5m` or `1h`, as milliseconds. */
export function parseDuration(text: string): number {
  const match = /^(\d{1,6})(ms|s|m|h)?$/.exec(text.trim());
  const unit = { ms: 1, s: 1000, m: 60_000, h: HOUR_MS }[match?.[2] ?? 's'];
  if (!match || unit === undefined || Number(match[1]) === 0) {
    throw problem('usage', { message: `"${text}" is not a time span.`, fix: 'Write it as 90s, 5m or 1h.' });
  }
  return Number(match[1]) * unit;
}

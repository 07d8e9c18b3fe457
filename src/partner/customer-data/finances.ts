import { normal, type Verdict, wrong } from './verdict.ts';

/** The six digits of an occupation code; grouped as `15-1252` too. */
export function occupationCode(text: string): Verdict {
  const digits = text.replace(/[\s.-]/g, '');
  return /^\d{6}$/.test(digits) ? normal(digits) : wrong('must be six digits.');
}

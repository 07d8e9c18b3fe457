import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { onFile } from '../../../kernel/storage.ts';
import { fieldLines, harmlessDocument, type Screen, utcTime, wrap } from '../../../terminal/index.ts';
import type { PageEvidence } from '../../../wire/flights/index.ts';

/** Writes screenshots and texts into a folder, for this user alone; without one, nothing. @throws Problem of storage */
export function keptEvidence(found: readonly PageEvidence[], folder: string | null): ShownEvidence[] {
  const place = folder === null ? null : resolve(folder);
  if (place !== null) onFile(place, () => mkdirSync(place, { recursive: true, mode: 0o700 }));
  const write = (name: string, content: string | Buffer | null): string | null => {
    if (place === null || content === null) return null;
    const path = join(place, name);
    onFile(path, () => writeFileSync(path, content, { mode: 0o600 }));
    return path;
  };
  return found.map(({ screenshot, ...one }) => {
    // Names of files come from elsewhere: they lead nowhere but into the folder.
    const name = one.evidence_id.replace(/[^0-9a-z]/gi, '');
    return {
      ...one,
      screenshot_file: write(`${name}.png`, screenshot && Buffer.from(screenshot, 'base64')),
      text_file: write(`${name}.txt`, one.text),
    };
  });
}

/** The evidence that was kept of a visit, and the files that it was written to. */
export type ShownEvidence = Omit<PageEvidence, 'screenshot'> & {
  readonly screenshot_file: string | null;
  readonly text_file: string | null;
};

const MOST_LINES = 12;

/**
 * How a carrier's web site looked where each visit ended: the beginning of its text.
 * @param found as it came: its text has lines, which are made harmless here
 */
export function evidenceLines(found: readonly ShownEvidence[], { paint, width }: Screen): string[] {
  if (found.length === 0) return ['', 'No page was kept of it.'];
  return found.flatMap(({ text: page, ...about }) => {
    const one = harmlessDocument(about);
    const text = harmlessDocument(page.split('\n').filter((line) => line.trim() !== ''));
    return [
      '',
      `${paint.bold(utcTime(one.at))}  ${one.outcome}`,
      ...fieldLines(
        [
          ['Site', `${one.carrier}, recipe version ${one.recipe_version}`],
          ['Step', one.step || null],
          ['Screenshot', one.screenshot_file],
          ['Text', one.text_file],
        ],
        paint.dim,
      ),
      ...text.slice(0, MOST_LINES).flatMap((line) => wrap(line.trim(), width - 2).map((part) => `  ${part}`)),
      ...(text.length > MOST_LINES ? [paint.dim(`  … ${text.length - MOST_LINES} more lines`)] : []),
    ];
  });
}

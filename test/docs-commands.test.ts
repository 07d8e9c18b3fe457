import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inMemory } from './cli/memory.ts';
import { BIN, farelockIn, PASSENGER, type Ran, type Runner, serveIn } from './e2e/farelock.ts';
import { isHere } from './needs.mjs';

/** Every command that a page tells a reader to type works, in the order of the page, in one home. */

const ROOT = resolve(import.meta.dirname, '..');
const pages = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((page) => page.endsWith('.md'))
    .map((page) => `docs/${page}`),
];

interface Line {
  readonly page: string;
  /** `NAME=value` before the command. */
  readonly env: Record<string, string>;
  readonly args: readonly string[];
  readonly text: string;
  /** What the page shows that it prints: its first lines. */
  readonly shown: string;
}

/**
 * The commands of a page's ```sh and ```console blocks. What follows ` #` is a remark: `# exit 5` is what it ends with. In
 * a ```console block commands begin with `$ `, and what they print follows.
 */
function commandsOf(page: string): Line[] {
  const blocks = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```(sh|console)\n([\s\S]*?)^```/gm)];
  return blocks
    .flatMap(([, kind, block = '']) => {
      const whole = block.replaceAll('\\\n', ' ');
      return kind === 'console' ? whole.split(/^\$ /m).slice(1) : whole.split('\n');
    })
    .flatMap((given) => {
      const [text = '', ...printed] = given.trim().split('\n');
      const shown = printed.join('\n');
      const words = wordsOf(text.replace(/\s#.*$/, ''));
      const at = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
      if (words[at] !== 'farelock') return [];
      const env = words.slice(0, at).map((word) => word.split(/=(.*)/s).slice(0, 2) as [string, string]);
      return [{ page, env: Object.fromEntries(env), args: words.slice(at + 1), text, shown }];
    });
}

/** The ```json block of a page that has these words in it. */
function jsonBlockOf(page: string, words: string): string {
  const blocks = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```json\n([\s\S]*?)^```/gm)];
  const found = blocks.find(([, block = '']) => block.includes(words))?.[1];
  if (found === undefined) throw new Error(`${page} has no such block`);
  return found;
}

const wordsOf = (text: string): string[] =>
  [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '');

const lines = pages.flatMap(commandsOf);

/** The first CSV file that a page shows. */
const csvBlockOf = (page: string): string =>
  /^```csv\n([\s\S]*?)^```/m.exec(readFileSync(join(ROOT, page), 'utf8'))?.[1] ?? '';

test('every script that a page names is one of package.json', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  for (const page of pages) {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const named = [...text.matchAll(/\bnpm (?:run )?(?:--silent )?(demo|test|[a-z:]+)\b/g)]
      .filter(([whole, name = '']) => whole.startsWith('npm run') || name === 'test')
      .map(([, name = '']) => name);
    for (const name of named) expect(Object.keys(scripts), `${page}: npm run ${name}`).toContain(name);
  }
});

describe.runIf(isHere('the built tool', existsSync(BIN) && existsSync(join(ROOT, 'dist'))))(
  'the commands of the pages',
  () => {
    let farelock: Runner;
    /** What a placeholder stands for, as the commands before have made it. */
    const known = new Map<string, string>();
    beforeAll(async () => {
      farelock = farelockIn();
      const files: Record<string, unknown> = {
        'passengers.json': JSON.parse(jsonBlockOf('README.md', '"given_name"')),
        'passengers-lowcost.json': [
          { ...PASSENGER, nationality: 'PT', passport_number: 'AB123456', passport_expiry: '2031-01-01' },
        ],
        'eva.json': JSON.parse(jsonBlockOf('docs/compliance.md', '"firstName"')),
      };
      for (const [file, value] of Object.entries(files)) {
        writeFileSync(join(farelock.home, file), JSON.stringify(value));
      }
      const updates = csvBlockOf('docs/partners.md');
      writeFileSync(join(farelock.home, 'updates.csv'), updates);
      writeFileSync(join(farelock.home, 'misspelt.csv'), updates.replace('PAYMENT_PROCESSED', 'PAYMENT_PROCESED'));
      const searched = await inMemory(farelock).run(['search', 'LIS', 'BER', '--depart', '+30d', '--json']);
      learn(searched);
    });
    afterAll(() => farelock.close());

    /** Remembers the ids in an answer for the commands that follow. */
    function learn(ran: Ran): void {
      const ids: [string, RegExp][] = [
        ['<intent-id>', /\b(int_[0-9a-z]{20,})/],
        ['<order-id>', /\b(ord_[0-9a-z]{20,})/],
        ['<wallet>', /"address":\s*"([^"]+)"/],
        ['<code>', /"code":\s*"([A-Z0-9-]{4,})"/],
        ['<request-id>', /"request_id":\s*"(ref_[^"]+)"/],
        ['<key-id>', /"key_id":\s*"([^"]+)"/],
        ['<payment-id>', /"payment_id":\s*"([^"]+)"/],
        ['<ramp-order-id>', /"id":\s*"(rmp_[0-9a-z]{20,})"/],
      ];
      for (const [name, pattern] of ids) {
        const found = pattern.exec(ran.stdout)?.[1];
        if (found) known.set(name, found);
      }
      const offers = /^\s*\{/.test(ran.stdout) ? offersIn(ran.stdout) : [];
      const sold = offers.find((offer) => offer.total_currency === 'USD');
      if (sold) known.set('<offer-id>', sold.offer_id);
    }

    test.each(lines)('$page: $text', async ({ page, env, args, text, shown }) => {
      const given = args.map((word) =>
        word
          .replace(/<[a-z-]+>/g, (name) => known.get(name) ?? name)
          .replace(
            /^(passengers[\w-]*\.json|eva\.json|updates\.csv|misspelt(?:\.corrected)?\.csv|[\w-]+\.ics)$/,
            (file) => join(farelock.home, file),
          ),
      );
      expect(given.join(' '), 'a placeholder that nothing before has made').not.toMatch(/<[a-z-]+>/);
      if (given[0] === 'serve') {
        const served = await serveIn({ ...farelock, env: { ...farelock.env, ...env } }, withoutPort(given.slice(1)));
        expect(await served.stop()).toBe(0);
        return;
      }
      // On a terminal, README's reader says who flies, and yes; test/pty/commands.test.ts does so.
      if (page === 'README.md' && given[0] === 'book') {
        given.push('--passengers', join(farelock.home, 'passengers.json'), '--yes');
      }
      // Servers; test/pty/commands.test.ts runs every command as a process, test/pty/two-terminals.test.ts the README's.
      const isProcess = /^(sandbox|demo)$/.test(given[0] ?? '');
      const ran = await (isProcess ? farelock : inMemory(farelock)).run(given, { env });
      const ends = Number(/#.*\bexit (\d+)/.exec(text)?.[1] ?? 0);
      expect(ran.exitCode, `${text}\n${ran.stdout}${ran.stderr}`).toBe(ends);
      expect(likenessOf(ran.stdout)).toContain(likenessOf(shown));
      learn(ran);
    });
  },
);

/** A text without what another run has otherwise: ids, references, numbers and instants. */
const likenessOf = (text: string): string =>
  text
    .replace(/\b(int|ord|ref|rmp)_\w+/g, '$1_…')
    .replace(/\b[A-Z\d]{6}\b/g, '······')
    .replace(/,? *\b(at once|\d+ s later)$/gm, '')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '…')
    .replace(/\bin \d+ min\b/g, 'in … min');

/** The port of a page may be taken: any free one will do. */
function withoutPort(args: readonly string[]): string[] {
  return args.filter((word, index) => !['--json', '--port'].includes(word) && args[index - 1] !== '--port');
}

function offersIn(stdout: string): { offer_id: string; total_currency: string }[] {
  try {
    return (JSON.parse(stdout) as { offers?: { offer_id: string; total_currency: string }[] }).offers ?? [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import {
  circlesOf,
  filesIn,
  folderCirclesOf,
  functionsOf,
  type Import,
  importsOf,
  reachesOf,
  throughFaces,
} from './house.mjs';

/** The rules of the house (docs/house.md): where an import may point, and who may do what. */

const SRC = resolve(import.meta.dirname, '../src');
const inSrc = (path: string): string => path.replace(/^src\//, '');

const files = filesIn('src').map(inSrc);
/** The schema of what a command prints lies beside it, and is read by tests and pages alone. */
const isResult = (file: string): boolean => /^cli\/(commands\/[^/]+\/result|spec\/(published|schemas))\.ts$/.test(file);
const roomOf = (file: string): string => {
  if (isResult(file)) return 'result';
  return file.split('/')[0] ?? '';
};
const written = files.flatMap((file) => importsOf(`src/${file}`));
/** Led through the faces, to the files that are meant. */
const imports = throughFaces(written).map((one) => ({
  ...one,
  file: inSrc(one.file),
  target: one.target === null ? null : inSrc(one.target),
  room: roomOf(inSrc(one.file)),
}));

/** Which rooms each room may import. Below `service` the arrows point down only. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  kernel: [],
  wire: ['kernel'],
  store: ['kernel'],
  solana: ['store', 'kernel'],
  http: ['store', 'kernel'],
  notify: ['solana', 'store', 'kernel'],
  escrow: ['solana', 'store', 'kernel'],
  effects: ['escrow', 'solana', 'store', 'kernel'],
  payments: ['escrow', 'http', 'solana', 'store', 'kernel'],
  airlines: ['effects', 'http', 'store', 'wire', 'kernel'],
  flights: [...['airlines', 'payments', 'effects', 'escrow', 'http', 'notify', 'solana', 'store', 'wire'], 'kernel'],
  partner: ['payments', 'effects', 'escrow', 'http', 'notify', 'solana', 'store', 'wire', 'kernel'],
  // It stands for companies of its own, which know the services from outside and through their ports.
  sandbox: ['flights', 'airlines', 'partner', 'http', 'solana', 'store', 'wire', 'kernel'],
  service: [
    ...['flights', 'airlines', 'partner', 'sandbox', 'payments', 'effects', 'escrow', 'http', 'notify'],
    ...['solana', 'store', 'wire', 'kernel'],
  ],
  // Schemas of the documents that commands print: read by tests and pages alone.
  result: ['wire', 'kernel'],
  terminal: ['kernel'],
  client: ['escrow', 'solana', 'store', 'kernel'],
  cli: ['terminal', 'client', 'escrow', 'solana', 'kernel'],
};

/** The half of `escrow/` that reads, and does what anybody may do: a client never acts for the operator. */
const ESCROW_READING = new Set([
  'escrow/account.ts',
  'escrow/address.ts',
  'escrow/claim.ts',
  'escrow/deployment/inspect.ts',
  'escrow/elf.ts',
  'escrow/program.ts',
  'escrow/terms.ts',
  'escrow/verify.ts',
]);

/** The doors for looks that change nothing: completion and doctor read what lies in a home without opening it. */
const DOORS = [
  'flights/look.ts',
  'partner/look.ts',
  'payments/look.ts',
  'store/glance.ts',
  // Which steps this version knows.
  'service/migrations.ts',
];

const say = (one: Pick<Import, 'file' | 'specifier'>) => `${one.file} imports ${one.specifier}`;

test('imports point down', () => {
  const wrong = imports.filter((one) => {
    if (one.target === null || one.target === 'package.json') return false;
    const to = roomOf(one.target);
    if (to === one.room || MAY_IMPORT[one.room]?.includes(to)) return false;
    // Types of the wire, and the types of the composition root, are what the tool and the services agree on.
    if (one.typeOnly && (one.room === 'client' || one.room === 'cli') && to === 'wire') return false;
    if (one.typeOnly && one.room === 'cli' && to === 'service') return false;
    if (DOORS.includes(one.target)) return false;
    // What a command prints: a type for its spec, and a schema that only tests and pages load.
    if (one.file.startsWith('cli/') && to === 'result') return !one.typeOnly && !one.dynamic;
    // The one door through which an embedded profile reaches the services.
    return !(one.file === 'cli/session/session.ts' && one.target === 'service/index.ts');
  });
  expect(wrong.map(say)).toEqual([]);
});

test('client and tool use only the reading half of the escrow', () => {
  const wrong = imports.filter(
    (one) =>
      (one.room === 'client' || one.room === 'cli') &&
      one.target !== null &&
      roomOf(one.target) === 'escrow' &&
      !ESCROW_READING.has(one.target),
  );
  expect(wrong.map(say)).toEqual([]);
});

test('a package with one owner is imported nowhere else', () => {
  const owners: [RegExp, (file: string) => boolean][] = [
    [/^litesvm/, (file) => file.startsWith('solana/')],
    [/^(libsql|pg)$/, (file) => file.startsWith('store/')],
    [/^@solana\/web3\.js$/, (file) => file.startsWith('cli/')],
    [/^(commander|conf)$/, (file) => file.startsWith('cli/')],
    [/^(chalk|ora|@inquirer\/.*)$/, (file) => file.startsWith('terminal/')],
    [/^@x402\//, (file) => file.startsWith('payments/') || file.startsWith('client/payer/')],
    // Tests serve by it, to ask as somebody else's server would.
    [/^(hono|@hono\/.*)$/, () => false],
  ];
  const wrong = imports.filter((one) => owners.some(([name, owns]) => name.test(one.specifier) && !owns(one.file)));
  expect(wrong.map(say)).toEqual([]);
});

test('only the terminal prints, and only main.ts exits', () => {
  const wrong = files.filter((file) => {
    const text = readFileSync(join(SRC, file), 'utf8');
    if (/process\.exit\(/.test(text) && file !== 'cli/main.ts') return true;
    return (
      /console\.\w+\(|process\.(stdout|stderr)\b/.test(text) && file !== 'cli/main.ts' && !file.startsWith('terminal/')
    );
  });
  expect(wrong).toEqual([]);
});

test('heavy packages are loaded when a command needs them, never on the way in', () => {
  const heavy = /^(@x402\/.*|litesvm|@solana\/web3\.js|ora|@inquirer\/.*|@hono\/node-server|conf|yaml)$/;
  const reachable = new Set<string>();
  const follow = (file: string): void => {
    if (reachable.has(file)) return;
    reachable.add(file);
    for (const one of staticImportsOf(file)) if (one.target) follow(one.target);
  };
  for (const door of ['cli/main.ts', 'service/index.ts']) if (files.includes(door)) follow(door);
  const wrong = [...reachable].flatMap(staticImportsOf).filter((one) => heavy.test(one.specifier));
  expect(wrong.map(say)).toEqual([]);
});

const staticImportsOf = (file: string) => imports.filter((one) => one.file === file && !one.typeOnly && !one.dynamic);

test('no files import each other in a circle, types included', () => {
  expect(circlesOf(written)).toEqual([]);
});

test('no folders enter each other in a circle, types included', () => {
  expect(folderCirclesOf(written)).toEqual([]);
});

test('a folder is entered by its face', () => {
  expect(reachesOf(written).map(say)).toEqual([]);
});

test('no function is over 100 lines', () => {
  const long = files.flatMap((file) => functionsOf(`src/${file}`)).filter(({ lines }) => lines > 100);
  expect(long).toEqual([]);
});

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

/** The rules of the house (docs/house.md): where an import may point, and who may do what. */

const SRC = resolve(import.meta.dirname, '../src');

interface Import {
  readonly file: string;
  readonly room: string;
  readonly specifier: string;
  /** The file inside src that is imported, or null for a package. */
  readonly target: string | null;
  readonly typeOnly: boolean;
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.split(sep).join('/'));

const roomOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : 'service');

function importsOf(file: string): Import[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
  const found: Import[] = [];
  const add = (specifier: string, typeOnly: boolean) => {
    const target = specifier.startsWith('.')
      ? relative(SRC, resolve(dirname(join(SRC, file)), specifier))
          .split(sep)
          .join('/')
      : null;
    found.push({ file, room: roomOf(file), specifier, target, typeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const bindings = node.importClause?.namedBindings;
      const allTypes =
        bindings !== undefined &&
        ts.isNamedImports(bindings) &&
        bindings.elements.every((element) => element.isTypeOnly);
      add(
        node.moduleSpecifier.text,
        node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword || allTypes,
      );
    } else if (
      ts.isExportDeclaration(node) &&
      node.moduleSpecifier &&
      ts.isStringLiteral(node.moduleSpecifier)
    ) {
      add(node.moduleSpecifier.text, node.isTypeOnly);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments;
      if (argument && ts.isStringLiteral(argument)) add(argument.text, false);
    } else if (
      ts.isImportTypeNode(node) &&
      ts.isLiteralTypeNode(node.argument) &&
      ts.isStringLiteral(node.argument.literal)
    ) {
      add(node.argument.literal.text, true);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const imports = files.flatMap(importsOf);

/** Which rooms each room may import. Below `service` the arrows point down only. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  kernel: [],
  store: ['kernel'],
  solana: ['store', 'kernel'],
  escrow: ['solana', 'store', 'kernel'],
  payments: ['solana', 'store', 'kernel'],
  notify: ['solana', 'store', 'kernel'],
  flights: ['payments', 'escrow', 'notify', 'solana', 'store', 'kernel'],
  partner: ['payments', 'escrow', 'notify', 'solana', 'store', 'kernel'],
  service: ['flights', 'partner', 'payments', 'escrow', 'notify', 'solana', 'store', 'kernel'],
  // Only tests and scripts read it: the schemas of the services beside those of the tool's own documents.
  published: ['flights', 'partner', 'kernel'],
  client: ['escrow', 'solana', 'store', 'kernel'],
  cli: ['client', 'escrow', 'solana', 'kernel'],
};

/** The half of `escrow/` that reads, and does what anybody may do: a client never acts for the operator. */
const ESCROW_READING = new Set([
  'escrow/account.ts',
  'escrow/claim.ts',
  'effects/errors.ts',
  'escrow/program.ts',
  'escrow/terms.ts',
  'escrow/verify.ts',
]);

const say = (one: Import) => `${one.file} imports ${one.specifier}`;

test('imports point down', () => {
  const wrong = imports.filter((one) => {
    if (one.target === null || one.target === '../package.json') return false;
    const to = roomOf(one.target);
    if (to === one.room || MAY_IMPORT[one.room]?.includes(to)) return false;
    // Types of the wire, and the types of the composition root, are what the tool and the services agree on.
    const isWire = one.target === 'flights/wire.ts' || one.target === 'partner/wire.ts';
    if (one.typeOnly && (one.room === 'client' || one.room === 'cli') && isWire) return false;
    if (one.typeOnly && one.room === 'cli' && one.target === 'service-types.ts') return false;
    // The one door through which an embedded profile reaches the services.
    return !(one.file === 'cli/session.ts' && one.target === 'service.ts');
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
    [/^(commander|chalk|ora|conf|@inquirer\/.*)$/, (file) => file.startsWith('cli/')],
    [/^@x402\//, (file) => file.startsWith('payments/') || file.startsWith('client/payer/')],
    [/^@hono\/node-server$/, (file) => file.startsWith('cli/')],
  ];
  const wrong = imports.filter((one) =>
    owners.some(([name, owns]) => name.test(one.specifier) && !owns(one.file)),
  );
  expect(wrong.map(say)).toEqual([]);
});

test('only the tool prints, and only main.ts exits', () => {
  const wrong = files.filter((file) => {
    const text = readFileSync(join(SRC, file), 'utf8');
    if (/process\.exit\(/.test(text) && file !== 'cli/main.ts') return true;
    return /console\.\w+\(|process\.(stdout|stderr)\b/.test(text) && !file.startsWith('cli/');
  });
  expect(wrong).toEqual([]);
});

test('only providers know the sandbox airline', () => {
  const wrong = imports.filter(
    (one) =>
      one.target?.startsWith('flights/providers/sandbox') &&
      !one.file.startsWith('flights/providers/') &&
      roomOf(one.file) !== 'service',
  );
  expect(wrong.map(say)).toEqual([]);
});

test('heavy packages are loaded when a command needs them, never on the way in', () => {
  const heavy = /^(@x402\/.*|litesvm|@solana\/web3\.js|ora|@inquirer\/prompts|@hono\/node-server|conf|yaml)$/;
  const reachable = new Set<string>();
  const follow = (file: string): void => {
    if (reachable.has(file)) return;
    reachable.add(file);
    for (const one of staticImportsOf(file)) if (one.target) follow(one.target);
  };
  for (const door of ['cli/main.ts', 'service.ts']) if (files.includes(door)) follow(door);
  const wrong = [...reachable].flatMap(staticImportsOf).filter((one) => heavy.test(one.specifier));
  expect(wrong.map(say)).toEqual([]);
});

function staticImportsOf(file: string): Import[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  const dynamic = new Set([...text.matchAll(/import\(\s*'([^']+)'/g)].map((match) => match[1]));
  return importsOf(file).filter((one) => !one.typeOnly && !dynamic.has(one.specifier));
}

test('a file is one idea: none is over 300 lines, but for tables', () => {
  const long = files.filter((file) => {
    if (/(problems|migrations|-table)\.ts$/.test(file)) return false;
    return readFileSync(join(SRC, file), 'utf8').split('\n').length > 300;
  });
  expect(long).toEqual([]);
});

// npm run house [-- --json]: the measures of the house: lines, files, long functions, exports that nobody imports, circles
// of imports between files and between folders (types included). `test/house.test.ts` holds the limits.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ts from 'typescript';

const ROOT = resolve(import.meta.dirname, '..');

/** The TypeScript files below a folder of the project, by their path in it. */
export function filesIn(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file.split(sep).join('/')}`);
}

const parsed = new Map();
export function sourceOf(file) {
  const known = parsed.get(file);
  if (known) return known;
  const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.ESNext, true);
  parsed.set(file, source);
  return source;
}

const lineOf = (source, position) => source.getLineAndCharacterOfPosition(position).line;
/** A trailing line feed ends the last line; it does not begin another. */
const linesOf = (source) => lineOf(source, source.end) + (source.text.endsWith('\n') ? 0 : 1);

/** Every import of a file: static, of types, re-exported, dynamic. `target` is null for a package. */
export function importsOf(file) {
  const found = [];
  const add = (specifier, { names = null, typeOnly = false, dynamic = false, all = false } = {}) => {
    const isOwn = specifier.startsWith('.');
    const target = isOwn
      ? relative(ROOT, resolve(ROOT, dirname(file), specifier))
          .split(sep)
          .join('/')
      : null;
    found.push({ file, specifier, target, typeOnly, dynamic, names, all });
  };
  const visit = (node) => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const clause = node.importClause;
      const bindings = clause?.namedBindings;
      const named = bindings && ts.isNamedImports(bindings) ? bindings.elements : null;
      const allTypes = named?.every((element) => element.isTypeOnly) === true;
      add(node.moduleSpecifier.text, {
        names: named?.map((element) => (element.propertyName ?? element.name).text) ?? null,
        typeOnly: clause?.phaseModifier === ts.SyntaxKind.TypeKeyword || (allTypes && named.length > 0),
      });
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      const named = node.exportClause && ts.isNamedExports(node.exportClause) ? node.exportClause.elements : null;
      const names = named?.map((element) => (element.propertyName ?? element.name).text) ?? null;
      add(node.moduleSpecifier.text, { names, typeOnly: node.isTypeOnly, all: node.exportClause === undefined });
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments;
      if (argument && ts.isStringLiteral(argument)) add(argument.text, { dynamic: true });
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal.text, { typeOnly: true });
    }
    ts.forEachChild(node, visit);
  };
  visit(sourceOf(file));
  return found;
}

/** Functions with their length in lines; a function that only holds others counts with them. */
export function functionsOf(file) {
  const source = sourceOf(file);
  const found = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const name = node.name?.getText() ?? node.parent?.name?.getText() ?? '(anonymous)';
      const at = lineOf(source, node.getStart());
      found.push({ file, name, at: at + 1, lines: lineOf(source, node.end) - at + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function exportsOf(file) {
  const names = [];
  for (const node of sourceOf(file).statements) {
    const isExported =
      ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (!isExported) continue;
    if (ts.isVariableStatement(node)) {
      for (const { name } of node.declarationList.declarations) if (ts.isIdentifier(name)) names.push(name.text);
    } else if (node.name) names.push(node.name.text);
  }
  return names;
}

/** Groups of files that import each other, directly or not (Tarjan's strongly connected components). */
export function circlesOf(imports) {
  const edges = new Map();
  for (const { file, target } of imports) {
    if (target === null) continue;
    edges.set(file, [...(edges.get(file) ?? []), target]);
  }
  const index = new Map();
  const low = new Map();
  const stack = [];
  const circles = [];
  const visit = (node) => {
    index.set(node, index.size);
    low.set(node, index.get(node));
    stack.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(node, Math.min(low.get(node), low.get(next)));
    }
    if (low.get(node) !== index.get(node)) return;
    const circle = stack.splice(stack.indexOf(node));
    if (circle.length > 1) circles.push(circle.sort());
  };
  for (const node of edges.keys()) if (!index.has(node)) visit(node);
  return circles;
}

/** The same of folders: each is a part, which others enter. */
export const folderCirclesOf = (imports) =>
  circlesOf(
    imports
      .filter(({ target }) => target !== null)
      .map(({ file, target }) => ({ file: dirname(file), target: dirname(target) }))
      .filter(({ file, target }) => file !== target),
  );

/** Shelves: every file on them is for everybody. */
const SHELVES = /^src\/(kernel|wire)\//;
/**
 * Faces beside a folder's `index.ts` (docs/house.md): of a family of commands, what every start loads and the schemas that
 * the build leaves out; of a service, the light looks into a home, which load nothing of what is behind them.
 */
const FACES =
  /^src\/(cli\/commands\/[^/]+\/(spec|result)|cli\/spec\/(published|schemas)|(flights|partner|payments)\/look|(store|client)\/glance)\.ts$/;

/** The table of contents loads the functions of commands from the files that have them. */
const CONTENTS = 'src/cli/commands/index.ts';

/** Imports that enter a folder by another file than its face. What lies in a folder sees the files of those around it. */
export const reachesOf = (imports) =>
  imports.filter(
    ({ file, target, dynamic }) =>
      target?.startsWith('src/') &&
      !file.startsWith(`${dirname(target)}/`) &&
      !(dynamic && file === CONTENTS) &&
      !target.endsWith('/index.ts') &&
      !SHELVES.test(target) &&
      !FACES.test(target),
  );

/** What a face hands on: for each name the file behind it, and whether that is loaded when it is asked for. */
function behindFace(face) {
  const behind = new Map();
  for (const { target, names, all, dynamic } of importsOf(face)) {
    if (target === null || dynamic) continue;
    for (const name of all ? exportsOf(target) : (names ?? [])) behind.set(name, { target, dynamic: false });
  }
  for (const [, name, file] of sourceOf(face).text.matchAll(
    /export const (load\w+) = \(\) => import\('\.\/([^']+)'\)/g,
  )) {
    behind.set(name, { target: `${dirname(face)}/${file}`, dynamic: true });
  }
  return behind;
}

/** The same imports, with those that go by a face led to the files that it hands on. */
export const throughFaces = (imports) =>
  imports.flatMap((one) => {
    if (!one.target?.endsWith('/index.ts') || one.names === null || one.dynamic) return [one];
    const behind = behindFace(one.target);
    return one.names.map((name) => ({ ...one, names: [name], ...behind.get(name) }));
  });

/** @returns for each export of `src`: how many other files of `src` and of `test` import it by name */
function useOfExports(sources, tests) {
  const users = new Map();
  /** Handed on whole by another file. */
  const handedOn = new Set();
  for (const [room, files] of [
    ['src', sources],
    ['test', tests],
  ]) {
    for (const { file, target, names, all } of files.flatMap(importsOf)) {
      if (target === null) continue;
      // A module that is imported whole is used where its name is followed by a dot, or its import taken apart.
      const taken = names ?? [...new Set(sourceOf(file).text.match(/\b[A-Za-z_$][\w$]*\b/g))];
      for (const name of taken) {
        const key = `${target}#${name}`;
        const entry = users.get(key) ?? { src: new Set(), test: new Set() };
        entry[room].add(file);
        users.set(key, entry);
      }
      if (all) handedOn.add(target);
    }
  }
  return sources.flatMap((file) =>
    exportsOf(file).map((name) => {
      const used = users.get(`${file}#${name}`);
      return { file, name, src: (used?.src.size ?? 0) + (handedOn.has(file) ? 1 : 0), test: used?.test.size ?? 0 };
    }),
  );
}

export function measure() {
  const sources = filesIn('src');
  const tests = filesIn('test');
  const lengths = sources.map((file) => linesOf(sourceOf(file))).sort((one, other) => one - other);
  const functions = sources.flatMap(functionsOf);
  const over = (limit) => functions.filter(({ lines }) => lines > limit).length;
  const exported = useOfExports(sources, tests);
  const total = (files) => files.reduce((sum, file) => sum + linesOf(sourceOf(file)), 0);
  return {
    lines: { src: total(sources), test: total(tests) },
    files: { src: sources.length, test: tests.length },
    file_lines: { median: lengths[Math.floor(lengths.length / 2)] ?? 0, longest: lengths.at(-1) ?? 0 },
    functions: { all: functions.length, over_40: over(40), over_60: over(60), over_100: over(100) },
    exports: {
      all: exported.length,
      never_imported: exported.filter(({ src, test }) => src + test === 0).length,
      imported_by_tests_alone: exported.filter(({ src, test }) => src === 0 && test > 0).length,
      imported_by_one_file: exported.filter(({ src }) => src === 1).length,
    },
    circles: circlesOf(sources.flatMap(importsOf)),
    folder_circles: folderCirclesOf(sources.flatMap(importsOf)),
    reaches: reachesOf(sources.flatMap(importsOf)).map(({ file, target }) => ({ file, target })),
    rooms: readdirSync(join(ROOT, 'src'), { withFileTypes: true })
      .filter((one) => one.isDirectory())
      .map(({ name }) => name),
    longest_functions: functions.filter(({ lines }) => lines > 100).sort((a, b) => b.lines - a.lines),
    unused: exported.filter(({ src, test }) => src + test === 0),
  };
}

function print(house) {
  const { lines, files, file_lines: file, functions, exports: exported, circles } = house;
  const rows = [
    ['lines', `src ${lines.src}, test ${lines.test}`],
    [
      'files',
      `src ${files.src}, test ${files.test}; of src the median ${file.median} lines, the longest ${file.longest}`,
    ],
    [
      'functions',
      `${functions.all}; over 40 lines ${functions.over_40}, over 60 ${functions.over_60}, over 100 ${functions.over_100}`,
    ],
    [
      'exports',
      `${exported.all}; imported by nobody ${exported.never_imported}, by tests alone ${exported.imported_by_tests_alone}, by one file ${exported.imported_by_one_file}`,
    ],
    ['circles', String(circles.length)],
    ...circles.map((circle) => ['', circle.join(', ')]),
    ['of folders', String(house.folder_circles.length)],
    ...house.folder_circles.map((circle) => ['', circle.join(', ')]),
    ['behind doors', String(house.reaches.length)],
    ...house.reaches.map(({ file: from, target }) => ['', `${from} enters ${target}`]),
    ['rooms', `${house.rooms.length}: ${house.rooms.join(', ')}`],
    ...house.longest_functions.map(({ file: where, name, at, lines: long }) => [
      '',
      `${long} lines: ${name} (${where}:${at})`,
    ]),
  ];
  for (const [name, said] of rows) process.stdout.write(`${name.padEnd(12)} ${said}\n`);
}

if (process.argv[1] === import.meta.filename) {
  const house = measure();
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(house, null, 2)}\n`);
  else print(house);
}

import { readFileSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import ts from 'typescript';

/**
 * Leads each import that goes by a folder's face (`index.ts`) to the file behind it. A face is for its readers; a bundle
 * that kept it would have every command load what any command uses of the folder.
 */
export const throughFaces = {
  name: 'through-faces',
  transform: {
    filter: { id: /[\\/]src[\\/].*\.ts$/, code: 'index.ts' },
    handler(code: string, id: string) {
      const source = ts.createSourceFile(id, code, ts.ScriptTarget.ESNext, true);
      let led = code;
      for (const node of source.statements.toReversed()) {
        if (!ts.isImportDeclaration(node) || !ts.isStringLiteral(node.moduleSpecifier)) continue;
        const named = node.importClause?.namedBindings;
        if (!node.moduleSpecifier.text.endsWith('/index.ts') || !named || !ts.isNamedImports(named)) continue;
        const face = resolve(dirname(id), node.moduleSpecifier.text);
        const lines = named.elements
          .filter((one) => !one.isTypeOnly && node.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword)
          .map((one) => importOf(id, face, (one.propertyName ?? one.name).text, one.name.text));
        led = led.slice(0, node.getStart()) + lines.join(' ') + led.slice(node.end);
      }
      return led;
    },
  },
};

interface Behind {
  readonly file: string;
  readonly kind: 'name' | 'whole' | 'lazy';
}

function importOf(id: string, face: string, name: string, as: string): string {
  const { file, kind } = behind(face).get(name) ?? { file: face, kind: 'name' };
  const path = relative(dirname(id), file).split(sep).join('/');
  const from = `'${path.startsWith('.') ? path : `./${path}`}'`;
  if (kind === 'lazy') return `const ${as} = () => import(${from});`;
  return kind === 'whole' ? `import * as ${as} from ${from};` : `import { ${name} as ${as} } from ${from};`;
}

const known = new Map<string, ReadonlyMap<string, Behind>>();

/** The names that a face hands on, and the files that they are of. */
function behind(face: string): ReadonlyMap<string, Behind> {
  const before = known.get(face);
  if (before) return before;
  const found = new Map<string, Behind>();
  known.set(face, found);
  const source = ts.createSourceFile(face, readFileSync(face, 'utf8'), ts.ScriptTarget.ESNext, true);
  for (const node of source.statements) {
    const lazy = /^export const (load\w+) = \(\) => import\('([^']+)'\);$/.exec(node.getText());
    if (lazy?.[1] && lazy[2]) found.set(lazy[1], { file: resolve(dirname(face), lazy[2]), kind: 'lazy' });
    if (!ts.isExportDeclaration(node) || !node.moduleSpecifier || !ts.isStringLiteral(node.moduleSpecifier)) continue;
    const file = resolve(dirname(face), node.moduleSpecifier.text);
    const clause = node.exportClause;
    if (!clause) for (const name of exportsOf(file)) found.set(name, { file, kind: 'name' });
    else if (ts.isNamespaceExport(clause)) found.set(clause.name.text, { file, kind: 'whole' });
    else for (const { name } of clause.elements) found.set(name.text, { file, kind: 'name' });
  }
  return found;
}

const exportsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^export (?:async )?(?:const|let|function\*?|class) (\w+)/gm)].flatMap(
    ([, name]) => name ?? [],
  );

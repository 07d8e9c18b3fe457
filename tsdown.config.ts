import { fileURLToPath } from 'node:url';
import { defineConfig } from 'tsdown';
import { licencesOf } from './.ci/licences.ts';
import { throughFaces } from './.ci/through-faces.ts';

// Where libsql's native half is: `store/libsql/target.ts` says why.
const inPlaceOf = fileURLToPath(new URL('src/store/libsql/target.ts', import.meta.url));

/** commander starts programs of other names for subcommands, which this tool has none of: it needs no module for that. */
const withoutPrograms = {
  name: 'without-programs',
  resolveId: {
    filter: { id: /^node:child_process$/ },
    handler: (_id: string, importer = '') => (/node_modules\/commander\//.test(importer) ? '\0no-programs' : null),
  },
  load: { filter: { id: /^\0no-programs$/ }, handler: () => 'export default {};' },
};

/**
 * kit orders the accounts of a transaction by the rules of the English language, which take 12 ms to load. Addresses
 * are letters and digits: their order is the same without (letters alike but for their case stand small before capital).
 */
const COLLATOR = /new Intl\.Collator\("en", \{[^}]*\}\)\.compare/;
const BY_LETTERS =
  '(a, b) => { const x = a.toLowerCase(), y = b.toLowerCase(); return x < y ? -1 : x > y ? 1 : a === b ? 0 : a > b ? -1 : 1; }';
const withoutCollation = {
  name: 'without-collation',
  transform: {
    filter: { id: /@solana\/(addresses|rpc-types)\/dist\//, code: 'Intl.Collator' },
    handler: (code: string, id: string) => {
      if (!COLLATOR.test(code)) throw new Error(`${id} orders addresses in another way than this build knows`);
      return code.replace(COLLATOR, BY_LETTERS);
    },
  },
};

/**
 * web3.js brings a fetch for a Node without one, with tables of 300 KB, and a client for subscriptions under the LGPL,
 * which must not be bundled. Every Node of ours has a fetch, and the tool subscribes to nothing.
 */
const OLD_WEB: Readonly<Record<string, string>> = {
  'node-fetch': 'export default undefined;',
  'rpc-websockets': 'export class CommonClient { on() {} } export const WebSocket = undefined;',
};
const withoutOldWeb = {
  name: 'without-old-web',
  resolveId: {
    filter: { id: /^(node-fetch|rpc-websockets)$/ },
    handler: (id: string, importer = '') => (/web3\.js/.test(importer) ? `\0no-${id}` : null),
  },
  load: {
    filter: { id: /^\0no-(node-fetch|rpc-websockets)$/ },
    handler: (id: string) => OLD_WEB[id.replace('\0no-', '')] ?? null,
  },
};

/** prom-client marks its own CPU time with spans of OpenTelemetry where that is asked for, which the tool never does. */
const withoutTracing = {
  name: 'without-tracing',
  resolveId: {
    filter: { id: /^@opentelemetry\/api$/ },
    handler: (_id: string, importer = '') => (/node_modules\/prom-client\//.test(importer) ? '\0no-tracing' : null),
  },
  load: { filter: { id: /^\0no-tracing$/ }, handler: () => 'export default {};' },
};

/** MCP's server checks forms that a person filled in by JSON Schema: `farelock mcp` asks for one yes, and reads that itself. */
const withoutForms = {
  name: 'without-forms',
  resolveId: { filter: { id: /^@modelcontextprotocol\/server\/_shims$/ }, handler: () => '\0no-forms' },
  load: {
    filter: { id: /^\0no-forms$/ },
    handler: () =>
      'const { process } = globalThis;\nexport { process };\nexport class DefaultJsonSchemaValidator { getValidator() { return (data) => ({ valid: true, data }); } }',
  },
};

interface Bundle {
  readonly [file: string]: { readonly modules?: Readonly<Record<string, { readonly code: string | null }>> };
}

/**
 * dist/modules.json: which modules lie in which chunk. test/bin/modules.test.ts holds commands to what they use.
 * dist/licences.txt: the terms of the packages among them.
 */
const namesModules = {
  name: 'names-modules',
  generateBundle(this: { emitFile(file: object): void }, _options: object, bundle: Bundle) {
    const root = fileURLToPath(new URL('.', import.meta.url));
    const modules = Object.entries(bundle).map(([file, chunk]): [string, string[]] => [
      file,
      Object.entries(chunk.modules ?? {})
        .filter(([, { code }]) => code)
        .map(([id]) => (id.startsWith(root) ? id.slice(root.length) : id)),
    ]);
    const emit = (fileName: string, source: string) => this.emitFile({ type: 'asset', fileName, source });
    emit('modules.json', JSON.stringify(Object.fromEntries(modules), null, 1));
    emit(
      'licences.txt',
      licencesOf(
        root,
        modules.flatMap(([, ids]) => ids),
      ),
    );
  },
};

/**
 * V8 keeps a text of ASCII alone in one byte a character, and any other in two: it is read, compared and compiled twice
 * as fast. Code has other characters in strings, templates and patterns alone, where an escape says the same.
 */
const inAscii = {
  name: 'in-ascii',
  generateBundle(_options: object, bundle: { readonly [file: string]: { code?: string } }) {
    for (const chunk of Object.values(bundle)) {
      if (/(?<!\\)(?:\\\\)*\\[^\0-\x7f]/.test(chunk.code ?? ''))
        throw new Error('a letter beyond ASCII is escaped by itself');
      chunk.code &&= chunk.code.replace(
        /[^\0-\x7f]/g,
        (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
  },
};

// Everything but the native packages is bundled: a published package gets no `overrides`, and one file per
// lazily imported command loads several times faster than a tree of small modules. CommonJS, because compiled code
// can be kept for it on every Node (bin/load.js).
const tool = defineConfig({
  entry: { main: 'src/cli/main.ts' },
  outDir: 'dist',
  // What the sandbox carrier's pages load: the tool reads them from beside its chunks.
  copy: ['src/sandbox/carrier-site/site.css', 'src/sandbox/carrier-site/site.js'],
  // A module that one command imports when it runs may be part of what every other loads at once: that is meant.
  inputOptions: { checks: { ineffectiveDynamicImport: false, pluginTimings: false } },
  plugins: [
    throughFaces,
    withoutPrograms,
    withoutOldWeb,
    withoutTracing,
    withoutForms,
    namesModules,
    withoutCollation,
    inAscii,
  ],
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  minify: true,
  dts: false,
  report: false,
  // Each file costs a start about a millisecond: what a command loads together lies together. Everything else stays
  // apart, and is loaded by the command that needs it.
  outputOptions: {
    codeSplitting: {
      groups: [
        { name: 'start', tags: ['$initial'], priority: 100 },
        { name: 'start', test: /rolldown\/runtime/, priority: 100 },
        { name: 'session', test: /src\/(cli\/session\/(session|wallet)|client\/flights)\.ts$/, priority: 90 },
        {
          name: 'airport-table',
          test: /src\/kernel\/domain\/(airport-table|metropolitan-areas)\.(ts|json)$/,
          priority: 85,
        },
        // A file of rows, for what has no more to do than look into one.
        {
          name: 'file',
          test: /src\/(store\/libsql\/(read-only|inspect)|kernel\/(secrets|ids|json|bounded-file)|kernel\/domain\/payout-names)\.ts$/,
          priority: 84,
        },
        { name: 'store', test: /src\/store\/(open|marks|identity)\.ts$/, priority: 83 },
        { name: 'journal', test: /src\/client\/journal\/store\.ts$/, priority: 82 },
        { name: 'service', test: /src\/service\/index\.ts$/, priority: 80 },
        { name: 'schemas', test: /node_modules\/zod\/|src\/kernel\/domain\/countries\.(ts|json)$/, priority: 75 },
        {
          name: 'paid',
          test: /src\/(http\/discovery|payments\/(inspection|x402-payload|facilitator-svm)|client\/payer\/\w+|solana\/(transaction|embedded\/(executor|builtins))|wire\/flights\/requests|flights\/(offers\/search|bookings\/booking)|escrow\/(account|address|commitment|observe|program|verify))\.ts$/,
          priority: 70,
        },
        // What a service does by itself when it is time: with a booking, and with the first look at one.
        {
          name: 'upkeep',
          test: /src\/(flights\/(upkeep\/\w+|bookings\/late-ticket)|notify\/mails|kernel\/domain\/ics|store\/erase)\.ts$/,
          priority: 65,
        },
        // What most commands of a traveller show.
        {
          name: 'travel',
          test: /src\/cli\/(view\/(index|flights\/(fares|offer|search|search-columns|status))|paying\/(agreement|explorer|meant|settled-payments)|interruption\/(booking|story|waiting)|session\/remembered|searching\/dates|commands\/search\/index)\.ts$/,
          priority: 60,
        },
      ],
    },
  },
  alias: { '@neon-rs/load': inPlaceOf, 'detect-libc': inPlaceOf },
  deps: {
    // What buys on web sites is an operator's to install: it is as large as all the rest.
    neverBundle: [
      /^@libsql\//,
      /^litesvm-/,
      'pg-native',
      'bufferutil',
      'utf-8-validate',
      'playwright-core',
      /^mailauth\//,
      'postal-mime',
    ],
    alwaysBundle: [
      /^(?!@libsql\/|litesvm-|node:|pg-native|bufferutil|utf-8-validate|playwright-core|mailauth\/|postal-mime)/,
    ],
    onlyBundle: false,
  },
});

/** The package's second entry, for servers, clients and facilitators of x402: one module, and its types. */
const authCapture = defineConfig({
  entry: { 'auth-capture': 'src/payments/auth-capture/index.ts' },
  outDir: 'dist',
  // The tool was built into the same folder.
  clean: false,
  inputOptions: { checks: { pluginTimings: false } },
  plugins: [throughFaces],
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minify: true,
  dts: { tsconfig: 'tsconfig.json' },
  report: false,
  outputOptions: { codeSplitting: false },
  deps: {
    // Types alone: @x402/core is there where a plug-in is registered.
    neverBundle: [/^@x402\/core\/types$/, /^litesvm/],
    alwaysBundle: [/^(?!node:|@x402\/core\/types|litesvm)/],
    onlyBundle: false,
  },
});

export default [tool, authCapture];

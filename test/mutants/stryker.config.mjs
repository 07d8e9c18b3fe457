// Which statements could be other ones, and no test would see it: Stryker over a room or a file. It is no dependency; how
// to run it is in CONTRIBUTING.md. MUTATE names the sources, TESTS the files of tests that have to see.
const listed = (name) => (process.env[name] ?? '').split(',').filter(Boolean);

export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  mutate: listed('MUTATE'),
  testFiles: listed('TESTS'),
  vitest: { configFile: 'test/mutants/stryker.vitest.ts', related: false },
  // Messages are for people.
  mutator: { excludedMutations: ['StringLiteral', 'ObjectLiteral'] },
  concurrency: 1,
  // What runs once, as its module is loaded, can't be changed between tests of one process.
  ignoreStatic: true,
  timeoutMS: 20_000,
  disableTypeChecks: false,
  allowEmpty: false,
  ignorePatterns: ['dist', 'docs', 'man', 'coverage', 'reports'],
  reporters: ['clear-text', 'json'],
  clearTextReporter: { allowColor: false, reportTests: false, logTests: false },
  tempDirName: '.stryker-tmp',
};

import { expect, test } from 'vitest';
import { airlineSettings } from '../../src/cli/commands/serve/airline-settings.ts';

/** What an operator sets of the browsers that buy on carriers' sites. */

const settingsOf = (environment: Record<string, string>) => {
  const settings = airlineSettings({ FARELOCK_RECIPES: 'recipes', ...environment }, { lowcost: 'browser' });
  return settings && typeof settings.lowcost === 'object' ? settings.lowcost.sites : null;
};

test('how many browsers there are, and how long a visit takes, is set by the environment', () => {
  expect(settingsOf({ FARELOCK_BROWSERS: '5', FARELOCK_VISIT_SECONDS: '45' })).toMatchObject({
    mostBrowsers: 5,
    visitMs: 45_000,
  });
  expect(settingsOf({})).toMatchObject({ mostBrowsers: undefined, visitMs: undefined });
});

test.each([
  ['FARELOCK_BROWSERS', '0'],
  ['FARELOCK_BROWSERS', 'two'],
  ['FARELOCK_VISIT_SECONDS', '5'],
  ['FARELOCK_VISIT_SECONDS', '1e2'],
])('%s=%s is refused with what it may be', (name, value) => {
  expect(() => settingsOf({ [name]: value })).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: expect.stringMatching(`${name} must be a whole number from \\d+ to \\d+ \\(got ${value}\\)`),
    }),
  );
});

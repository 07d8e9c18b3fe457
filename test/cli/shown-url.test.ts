import { expect, test } from 'vitest';
import { commandLine } from '../../src/cli/mistaken.ts';
import { shownUrl } from '../../src/cli/shown-url.ts';
import { runInMemory, temporaryHome } from './memory.ts';

const KEY = 'aKeyOfThirtyTwoLettersAndDigits1';

test('an address is shown without what may be a key in it', () => {
  expect(shownUrl(`https://rpc.example/v2/${KEY}?api-key=${KEY}#${KEY}`)).toBe('https://rpc.example/v2/…?…');
  expect(shownUrl(`postgres://desk:${KEY}@db.example:5432/farelock`)).toBe(
    'postgres://…@db.example:5432/farelock',
  );
  expect(shownUrl(`HTTPS://${KEY}@a.example`)).toBe('HTTPS://…@a.example');
  for (const whole of ['https://api.devnet.solana.com', 'http://127.0.0.1:4020/rpc', 'devnet', '/a/b']) {
    expect(shownUrl(whole)).toBe(whole);
  }
});

test('a command to repeat has none of it either', () => {
  const url = `postgres://desk:${KEY}@db.example/farelock`;
  for (const argv of [
    ['serve', '--database-url', url],
    ['serve', `--database-url=${url}`],
  ]) {
    expect(commandLine(argv)).not.toContain(KEY);
    expect(commandLine(argv)).toContain('postgres://…@db.example/farelock');
  }
  expect(commandLine(['search', '--depart', 'x y'])).toBe("farelock search --depart 'x y'");
});

test('a server that cannot reach its database or cluster does not repeat their addresses', async () => {
  const place = temporaryHome();
  const environment = { FARELOCK_HOME: place.home };
  try {
    for (const given of [
      ['--database-url', `postgres://desk:${KEY}@127.0.0.1:9/x`],
      ['--rpc-url', `http://127.0.0.1:9/v2/${KEY}?api-key=${KEY}`],
    ]) {
      const ran = await runInMemory(['serve', '--port', '0', '--verbose', ...given], { environment });
      expect(ran.exitCode).not.toBe(0);
      expect(ran.stdout + ran.stderr).not.toContain(KEY);
    }
  } finally {
    place.close();
  }
});

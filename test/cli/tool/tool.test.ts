import { describe, expect, test } from 'vitest';
import { runInMemory } from '../memory.ts';

describe('help and version', () => {
  test('go to stdout with exit 0', async () => {
    const help = await runInMemory(['--help']);
    expect(help).toMatchObject({ exitCode: 0, stderr: '' });
    for (const command of ['search', 'intent', 'book', 'status', 'order', 'wallet', 'payments', 'serve', 'demo']) {
      expect(help.stdout).toMatch(new RegExp(`^(\\w+ ?\\w*)? {2,}${command}\\b`, 'm'));
    }
    expect((await runInMemory(['--version'])).stdout).toBe('9.9.9\n');
  });

  test('without a command there is help', async () => {
    expect((await runInMemory([])).stdout).toMatch(/^Usage: farelock/);
  });

  test('of a command shows its own options, those everywhere, and an example', async () => {
    const { stdout } = await runInMemory(['search', '--help']);
    expect(stdout).toMatch(/--depart <date>/);
    expect(stdout).toMatch(/--json \[fields\]/);
    expect(stdout).toMatch(/\$ farelock search LIS BER --depart \+30d/);
  });

  test('fits the terminal', async () => {
    const { stdout } = await runInMemory(['search', '--help'], { terminal: true, columns: 80 });
    const wide = stdout.split('\n').filter((line) => line.length > 80 && !line.includes('$ farelock'));
    expect(wide).toEqual([]);
  });
});

describe('problems', () => {
  test('are at most three lines on stderr, and nothing on stdout', async () => {
    const run = await runInMemory(['serach'], { terminal: true });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(3);
    expect(run.stderr).toMatch(/^✗ Unknown command 'serach'\. Did you mean search\?/);
  });

  test('under --json are one document on stdout, and nothing on stderr', async () => {
    for (const argv of [
      ['serach', '--json'],
      ['--json', 'explain', 'no_such_code'],
    ]) {
      const run = await runInMemory(argv);
      expect(run.stderr).toBe('');
      expect(Object.keys(run.json().error as object)).toEqual(
        expect.arrayContaining(['code', 'message', 'fix', 'retryable', 'next']),
      );
    }
  });

  test('that nobody foresaw lead to --verbose and exit 1, with a stack only under it', async () => {
    const environment = { FARELOCK_HOME: '/tmp/no\0path' };
    const run = await runInMemory(['payments', 'list'], { environment });
    expect(run.exitCode).toBe(1);
    const lines = run.stderr.trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('✗'))).toHaveLength(1);
    expect(lines.slice(-2)).toEqual([
      '  Run it again with --verbose to see where.',
      '  $ farelock payments list --verbose',
    ]);
    expect(run.stderr).not.toMatch(/\n\s+at /);
    const loud = await runInMemory(['payments', 'list', '--verbose'], { environment });
    expect(loud.stderr).toMatch(/\n\s+at /);
  });

  test('of a home that cannot be made name it, FARELOCK_HOME and no stack', async () => {
    const environment = { FARELOCK_HOME: '/dev/null/not-a-folder' };
    const run = await runInMemory(['payments', 'list'], { environment });
    expect(run.exitCode).toBe(4);
    expect(run.stderr).toContain('/dev/null/not-a-folder');
    expect(run.stderr).toContain('FARELOCK_HOME');
    expect(run.stderr).not.toMatch(/\n\s+at /);
  });

  test('a control character in an argument does not reach the terminal', async () => {
    const run = await runInMemory(['explain', '\u001b]0;owned\u0007'], { terminal: true });
    expect(run.exitCode).toBe(3);
    expect(['\u001b', '\u0007'].some((control) => run.stderr.includes(control))).toBe(false);
  });
});

describe('explain', () => {
  test('says what a code means, also with dashes', async () => {
    const run = await runInMemory(['explain', 'offer-expired']);
    expect(run.exitCode).toBe(0);
    expect(run.stdout).toMatch(/^offer_expired\nThe offer has expired\./);
  });

  test('offers what is near to a code that does not exist', async () => {
    const run = await runInMemory(['explain', 'expired']);
    expect(run.exitCode).toBe(3);
    expect(run.stderr).toMatch(/Did you mean [\w, ]*offer_expired[\w, ]*\?\n {2}\$ farelock explain \w+_expired\n$/);
  });

  test('takes a code as a person writes it, and names the codes of a number or a sentence', async () => {
    const spaced = await runInMemory(['explain', 'Offer', 'Expired.']);
    expect(spaced.stdout).toMatch(/^offer_expired\n[\s\S]*\$ farelock help search\n/);
    const number = await runInMemory(['explain', '404']);
    expect(number.exitCode).toBe(3);
    expect(number.stderr).toMatch(/Errors with it: not_found, offer_not_found[\s\S]*\$ farelock explain not_found/);
    expect((await runInMemory(['explain', '6'])).stderr).toMatch(/^✗ Exit code 6: payment/);
    const sentence = await runInMemory(['explain', 'the', 'payment', 'was', 'declined']);
    expect(sentence.stderr).toMatch(/Did you mean payment_declined\?\n {2}\$ farelock explain payment_declined\n$/);
  });

  test('--json chooses fields, and an unknown one lists the valid ones before anything is done', async () => {
    expect((await runInMemory(['explain', 'offer_expired', '--json', 'code,exit'])).json()).toEqual({
      code: 'offer_expired',
      exit: 5,
    });
    const run = await runInMemory(['explain', 'offer_expired', '--json=colour']);
    expect(run.exitCode).toBe(2);
    expect((run.json().error as { fix: string }).fix).toMatch(/code, message, fix/);
  });
});

describe('profiles', () => {
  test('one that is not known is a usage error that names the known ones', async () => {
    const run = await runInMemory(['--profile', 'nowhere', 'payments', 'list'], {
      environment: { FARELOCK_HOME: '/tmp/farelock-no-such-home' },
    });
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toMatch(/There is no profile "nowhere"[\s\S]*local/);
  });

  test('an address that is none is refused', async () => {
    const run = await runInMemory(['payments', 'list'], { environment: { FARELOCK_FLIGHTS_URL: 'ftp://x' } });
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toMatch(/FARELOCK_FLIGHTS_URL must be an http address/);
  });
});

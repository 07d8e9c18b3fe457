import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { expect } from 'vitest';
import { parse } from 'yaml';

/** A Prometheus of the test's own, with the rules of docs/operations/alerts.yml. */

export const prometheusIsInstalled = ['prometheus', 'promtool'].every(
  (name) => spawnSync(name, ['--version']).status === 0,
);

const FILE = resolve(import.meta.dirname, '../../docs/operations/alerts.yml');
const RULES = readFileSync(FILE, 'utf8');

/** Windows and waits are so much shorter. Bounds of values, ages too, stay. */
const SHORTER = 12;
/** A part that cannot be read takes 2 seconds of a scrape. */
const EVERY = '3s';

const shortened = RULES.replace(
  /(\[|for: )(\d+)([mh])\b/g,
  (_, before: string, count: string, unit: string) =>
    `${before}${(Number(count) * (unit === 'h' ? 3600 : 60)) / SHORTER}s`,
);

interface Rule {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const rules = (parse(RULES) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);

export const ALERTS = rules.map(({ alert }) => alert);

/** @throws where promtool finds the shipped file wrong */
export const checkRules = (): string => execFileSync('promtool', ['check', 'rules', FILE], { encoding: 'utf8' });

/**
 * Plays series to the shipped rules, whose windows are whole here.
 * @param series values of a minute each, in promtool's notation
 * @param fires by minutes: whether the alert fires then, for the whole job
 * @throws where it is not so
 */
export function playRule(
  alert: string,
  series: Readonly<Record<string, string>>,
  fires: Readonly<Record<number, boolean>>,
) {
  const rule = rules.find((one) => one.alert === alert);
  const firing = { exp_labels: { ...rule?.labels, job: 'farelock' }, exp_annotations: rule?.annotations };
  const test = {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({
      series: name.replace('{', '{job="farelock",instance="a",'),
      values,
    })),
    alert_rule_test: Object.entries(fires).map(([minute, isFiring]) => ({
      eval_time: `${minute}m`,
      alertname: alert,
      exp_alerts: isFiring ? [firing] : [],
    })),
  };
  const folder = mkdtempSync(join(tmpdir(), 'farelock-promtool-'));
  try {
    const file = join(folder, 'test.yml');
    writeFileSync(file, JSON.stringify({ rule_files: [FILE], evaluation_interval: '1m', tests: [test] }));
    execFileSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

interface Alert {
  readonly labels: { readonly alertname: string };
  readonly state: 'pending' | 'firing';
}

export type Watch = Awaited<ReturnType<typeof watching>>;

/** Scrapes processes by their ports of /metrics. @param seen gets the name of each alert that fires */
export async function watching(ports: readonly number[], seen: Set<string>) {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-prometheus-'));
  const targets = ports.map((port) => `127.0.0.1:${port}`);
  const settings = {
    global: { scrape_interval: EVERY, scrape_timeout: EVERY, evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    scrape_configs: [{ job_name: 'farelock', static_configs: [{ targets }] }],
  };
  writeFileSync(join(folder, 'alerts.yml'), shortened);
  // JSON is YAML.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(settings));
  const port = await freePort();
  const server = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const asked = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    return ((await answer.json()) as { data: T }).data;
  };
  const alerts = async () => (await asked<{ alerts: Alert[] }>('alerts')).alerts;
  const named = (all: readonly Alert[], state: Alert['state']) =>
    [...new Set(all.filter((one) => one.state === state).map((one) => one.labels.alertname))].sort();
  const close = async () => {
    const ended = new Promise((done) => server.once('exit', done));
    server.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const isUp = () => asked<{ activeTargets: { health: string }[] }>('targets').catch(() => null);
  await expect
    .poll(async () => (await isUp())?.activeTargets.map(({ health }) => health), { timeout: 30_000 })
    .toEqual(targets.map(() => 'up'));

  return {
    close,
    /** What Prometheus says of each rule, beside `ok`. */
    async troubles(): Promise<string[]> {
      type Groups = { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
      const read = (await asked<Groups>('rules')).groups.flatMap((group) => group.rules);
      expect(read.map(({ name }) => name)).toEqual(ALERTS);
      return read.filter(({ health }) => health !== 'ok').map((one) => `${one.name}: ${one.lastError ?? one.health}`);
    },
    /** The alerts that fired within that time. */
    async over(ms: number): Promise<string[]> {
      const fired = new Set<string>();
      for (const untilMs = Date.now() + ms; Date.now() < untilMs; await passed(500))
        for (const name of named(await alerts(), 'firing')) fired.add(name);
      return [...fired].sort();
    },
    /** Waits until all of them fire at once. */
    async until(names: readonly string[], patienceMs = 90_000): Promise<void> {
      const untilMs = Date.now() + patienceMs;
      for (;;) {
        const all = await alerts();
        const firing = named(all, 'firing');
        for (const name of firing) seen.add(name);
        if (names.every((name) => firing.includes(name))) return;
        if (Date.now() > untilMs)
          throw new Error(
            `${names.filter((name) => !firing.includes(name))} do not fire; firing: ${firing}; pending: ${named(all, 'pending')}`,
          );
        await passed(500);
      }
    },
  };
}

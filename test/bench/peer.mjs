import { spawn } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'tsdown';
import { firstLine, ROOT, stopped } from './homes.mjs';

/** Bundles `peer.ts` as the tool itself is bundled, and starts it in a process of its own. */
export async function startPeer(stage, env = {}) {
  const folder = stage.folder('peer');
  for (const name of ['node_modules', 'program']) symlinkSync(join(ROOT, name), join(folder, name));
  await build({
    config: false,
    cwd: ROOT,
    entry: { peer: join(ROOT, 'test/bench/peer.ts') },
    outDir: join(folder, 'dist'),
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minify: false,
    dts: false,
    report: false,
    logLevel: 'error',
    inputOptions: { checks: { ineffectiveDynamicImport: false } },
    deps: {
      neverBundle: [/^@libsql\//, /^litesvm/, 'libsql', 'pg', 'pg-native', 'bufferutil', 'utf-8-validate'],
      alwaysBundle: [/^(?!@libsql\/|litesvm|libsql$|node:|pg$|pg-native|bufferutil|utf-8-validate)/],
      onlyBundle: false,
    },
  });
  const home = stage.folder('peer-home');
  const server = spawn(process.execPath, [join(folder, 'dist/peer.mjs')], {
    env: stage.envOf(home, env),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stage.keep(() => stopped(server, 'SIGTERM'));
  const { url } = JSON.parse(await firstLine(server));
  return { pid: server.pid, flightsUrl: url, rpcUrl: `${url}/rpc`, home };
}

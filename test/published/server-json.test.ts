import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { mcp } from '../../src/cli/commands/mcp/spec.ts';
import { GLOBAL_OPTIONS } from '../../src/cli/spec/tree.ts';

/** server.json, by which the MCP registry knows the package (its schema of 2025-12-11). */

const read = (file: string) => JSON.parse(readFileSync(resolve(import.meta.dirname, '../..', file), 'utf8'));
const server = read('server.json');
const shipped = read('package.json');

test('it names this package, its version, and how it is started', () => {
  expect(server).toMatchObject({
    name: shipped.mcpName,
    version: shipped.version,
    packages: [
      {
        registryType: 'npm',
        identifier: shipped.name,
        version: shipped.version,
        transport: { type: 'stdio' },
        packageArguments: expect.arrayContaining([{ type: 'positional', value: 'mcp' }]),
      },
    ],
  });
  expect(server.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  expect(server.description.length).toBeLessThanOrEqual(100);
  expect(shipped.files).toContain('server.json');
});

test('its arguments are options of farelock mcp, and its variables are settings', () => {
  const [{ packageArguments, environmentVariables }] = server.packages;
  const options = [...(mcp.options ?? []), ...GLOBAL_OPTIONS].map(({ flags }) => /--[\w-]+/.exec(flags)?.[0]);
  for (const { type, name } of packageArguments) if (type === 'named') expect(options).toContain(name);
  const settings = readFileSync(resolve(import.meta.dirname, '../../docs/settings.md'), 'utf8');
  for (const { name } of environmentVariables) expect(settings).toContain(`\`${name}\``);
});

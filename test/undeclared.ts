import { subscribe } from 'node:diagnostics_channel';
import { afterEach, expect } from 'vitest';

/**
 * In every test: a service that answers with a code or a status that its route does not declare fails it
 * (src/http/router.ts). So each test of a service is a test of its route table and of its /openapi.json.
 */

export const undeclared: unknown[] = [];
subscribe('farelock:undeclared-answer', (answer) => undeclared.push(answer));

afterEach(() => expect(undeclared.splice(0)).toEqual([]));

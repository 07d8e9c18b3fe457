export { postgresIsInstalled, startPostgres, type TestPostgres } from './postgres-server.mjs';

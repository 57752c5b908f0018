// The door of the room: switchboard.yaml, secrets and the data folder. Nobody else reads files or the environment.
export { childEnvironment } from './child-environment.ts'
export {
  type ConfigSource,
  type ConfigSourceConfig,
  type ConfigSourceDeps,
  openConfigSource,
  type ReloadResult,
  reloadError,
} from './config-source.ts'
export {
  type AdminToken,
  adminToken,
  type DataFolder,
  type DataFolderConfig,
  dataFolderAt,
  prepareDataFolder,
} from './data-folder.ts'
export { defaultSettings } from './default-settings.ts'
export { canonical, digestOf } from './digest.ts'
export { type Environment, readEnvironment } from './environment.ts'
export { type PluginProgram, type PluginSources, readInstalledPlugin } from './installed-plugin.ts'
export {
  homeFolder,
  type Instance,
  instanceName,
  locateInstance,
  namedInstances,
  realPath,
} from './instance.ts'
export { configurationJsonSchema } from './json-schema.ts'
export { generateKey, type KeyRing, openKeyRing, readLedgerKey } from './key-ring.ts'
export { type KnownInstance, knownInstances, recordInstance } from './known-instances.ts'
export { type LoadDeps, type LoadResult, loadSettings, namedModules } from './load.ts'
export { configError, type Problem, renderProblem, renderProblems } from './problem.ts'
export { configurationReference, referenceRows } from './reference.ts'
export {
  isSecretReference,
  resolveSecret,
  resolveStore,
  resolveText,
  type SecretSources,
} from './secret-reference.ts'
export { openSecretShelf, type SecretRows, type SecretShelf } from './secret-shelf.ts'
export { withoutPassword } from './settings-of.ts'

// The configuration in force for those who have the loader in memory anyway; a start that may do without uses openConfigSource.
import {
  type ConfigSource,
  type ConfigSourceConfig,
  type ConfigSourceDeps,
  configSourceWith,
} from './config-source.ts'
import { loadSettings } from './load.ts'

/** Throws `config_invalid` when the first load fails. */
export function createConfigSource(config: ConfigSourceConfig, deps: ConfigSourceDeps): ConfigSource {
  return configSourceWith(loadSettings, config, deps)
}

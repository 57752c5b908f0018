// The files of an instance that agents must not attach, and the files of this machine that they may.
import { homedir } from 'node:os'
import type { GuardedFiles } from '../contract/index.ts'
import { secretFiles, sendRoots } from '../gateway/files/send-roots.ts'
import { createSendableFiles, databaseFile, statePlaces } from '../gateway/files/sendable-files.ts'
import type { Instance } from './open-instance.ts'

/** Returns the files that the configuration in force names. */
export function guardedFiles({ config, settings, sources, storeAt }: Instance): GuardedFiles {
  return {
    config: config.files(),
    secrets: secretFiles(settings(), sources.folder),
    database: databaseFile(storeAt),
  }
}

export function attachableFiles(instance: Instance) {
  const { folder, storeAt, settings, configFile } = instance
  return createSendableFiles({
    never: () => {
      const { config, secrets } = guardedFiles(instance)
      return [...statePlaces(folder.path, storeAt), ...config, ...secrets]
    },
    attachments: folder.attachments,
    roots: (hostFolder) => sendRoots(settings(), { configFile, hostFolder }),
    home: homedir(),
  })
}

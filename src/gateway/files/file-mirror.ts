// The files of an integration in the store that all nodes share.
import type { FileMirror, Store } from '../../contract/index.ts'

export function createFileMirror(
  store: Pick<Store, 'keepFile' | 'keptFile' | 'fileTime' | 'forgetFile'>,
  integration: string,
): FileMirror {
  return {
    put: (name, bytes) => store.keepFile({ integration, name, bytes }),
    get: (name) => store.keptFile(integration, name),
    remove: (name) => store.forgetFile(integration, name),
    since: (name) => store.fileTime(integration, name),
  }
}

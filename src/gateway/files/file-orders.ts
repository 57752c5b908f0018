// Carries out orders of other nodes: deletes the files of an erased person from this node's disk, too.
import type { Attachment, Cancel, Clock, Logger, Store } from '../../contract/index.ts'
import { keepDoing } from '../../core/keep-doing.ts'
import type { Links } from '../../core/links.ts'

const EVERY_MS = 60_000

export function keepForgettingFiles(deps: {
  readonly store: Pick<Store, 'shared' | 'fileOrders' | 'doneFileOrder'>
  readonly clock: Clock
  readonly log: Logger
  readonly links: Pick<Links, 'get'>
}): Cancel {
  const { store, clock, log, links } = deps
  // With a local store there is one disk, and the erasure has cleaned it already.
  if (!store.shared) return () => undefined

  const carryOut = async (stopped: () => boolean = () => false) => {
    for (const { id, integration, sender, refs } of await store.fileOrders()) {
      const adapter = links.get(integration)?.adapter
      // An integration that does not run now may run later. Until then the order stays.
      if (stopped() || !adapter) continue
      const attachments = refs.map((ref): Attachment => ({ id: ref, ref, kind: 'file' }))
      const files = (await adapter.files?.forget?.({ sender, attachments })) ?? 0
      await store.doneFileOrder(id)
      if (files > 0) log.info({ integration, files }, 'files of a person who was erased went from this disk')
    }
  }
  const failed = (thrown: unknown) =>
    log.warn({ error: String(thrown) }, 'files of erased people could not be looked for; will try again')
  carryOut().catch(failed)
  return keepDoing(clock, EVERY_MS, carryOut, failed)
}

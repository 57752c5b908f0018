// The lines of one host. The same shim id replaces its line. Another shim of the same session is a twin. A turn that
// the shim reported as written to the host's pipe is not written again; a turn that never arrived there is.
import type { AttachedHost } from '../../contract/index.ts'
import { type Held, isUnseen } from './evidence.ts'
import type { Host, Line } from './hosts.ts'

export function attachLine(
  host: Host,
  link: AttachedHost,
  now: number,
): { readonly line: Line; readonly replaced: Line | null } {
  const replaced = host.lines.find((one) => one.link.facts.shim === link.facts.shim) ?? null
  const proven = link.facts.proven || (replaced?.proven ?? false)
  const line: Line = { link, since: now, proven, underway: 0, full: false }
  host.lines = [...host.lines.filter((one) => one !== replaced), line]
  host.proven = host.proven || line.proven
  if (replaced !== null && host.heard === replaced) host.heard = line
  for (const request of link.facts.asks)
    host.asks.set(request, [...(host.asks.get(request) ?? []).filter((one) => one !== replaced), line])
  return { line, replaced }
}

/** Records what the line brings. A turn that it does not name was lost on the line that it replaces. */
export function broughtBy(
  host: Host,
  line: Line,
  { replaced, now }: { readonly replaced: Line | null; readonly now: number },
): readonly Held[] {
  const { facts } = line.link
  const named = new Set<string>()
  for (const one of facts.held) {
    named.add(one.turn)
    const held = host.held.get(one.turn)
    if (held && one.seen) host.held.change(held, { seen: true })
    if (held && !held.lines.includes(line)) held.lines.push(line)
    if (held) continue
    host.held.add({
      ...{ turn: one.turn, session: one.session, chatId: one.chatId, messageId: one.messageId },
      ...{ phase: 'brought', seen: one.seen === true, fetched: false, answering: false, confirmed: true },
      // If the host was proven, the return of the turn counted as an attempt.
      ...{
        oneWay: false,
        counted: facts.proven,
        files: [],
        lines: [line],
        writtenAt: now,
        delivery: null,
        file: {},
      },
    })
  }
  host.used = host.used || host.held.size > 0
  if (!replaced) return []
  const lost: Held[] = []
  for (const held of host.held) {
    const at = held.lines.indexOf(replaced)
    if (at === -1) continue
    held.lines.splice(at, 1)
    if (named.has(held.turn) || held.confirmed || !isUnseen(held)) {
      if (!held.lines.includes(line)) held.lines.push(line)
    } else lost.push(held)
  }
  return lost
}

// Whether each integration missed a message, for approvers: "complete until", "behind", "cannot be checked".
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { completeWords } from '../shared/complete-words.ts'
import { oneLine } from '../shared/text.ts'
import type { Connection } from './session.ts'
import { words } from './words.ts'

export function Connections({
  connections,
  onClose,
}: {
  readonly connections: readonly Connection[]
  readonly onClose: () => void
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="connections-title" onClose={onClose}>
      <h2 id="connections-title">{words.menu.connections}</h2>
      {connections.length === 0 && <p>{words.menu.approversOnly}</p>}
      <ul class="connections">
        {connections.map(({ id, platform, complete }) => (
          <li key={id}>
            <bdi>{oneLine(id, 60)}</bdi> ({oneLine(platform, 40)}):{' '}
            <span class={complete.state === 'behind' ? 'tone-bad' : ''}>{completeWords(complete)}</span>
          </li>
        ))}
      </ul>
      <div class="buttons">
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          {words.menu.close}
        </button>
      </div>
    </dialog>
  )
}

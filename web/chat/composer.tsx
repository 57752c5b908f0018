// Where one types: Enter sends, Shift+Enter makes a line, files are uploaded at once and sent with the message.
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { upload } from '../shared/http.ts'
import { ClipIcon, CloseIcon, SendIcon } from '../shared/icons.tsx'
import { formatSize, oneLine } from '../shared/text.ts'
import { keepDraft, readDraft } from './draft.ts'
import type { Entry, FileRef } from './model.ts'
import type { Me } from './session.ts'

interface Props {
  readonly me: Me
  readonly replyTo: Entry | null
  readonly onCancelReply: () => void
  readonly onSend: (text: string, files: readonly FileRef[]) => void
  readonly agent: string
  readonly suggested: Suggestion | null
}

/** A text to begin with, from the empty page. An object: the same one can be picked twice. */
export interface Suggestion {
  readonly text: string
}

interface Upload {
  readonly key: number
  readonly name: string
  readonly size: number
  readonly share: number
  readonly file: FileRef | null
  readonly problem: string | null
}

let nextKey = 1

export function Composer({ me, replyTo, onCancelReply, onSend, agent, suggested }: Props): JSX.Element {
  const [text, setText] = useState(() => readDraft(me))
  const [uploads, setUploads] = useState<readonly Upload[]>([])
  const [dragging, setDragging] = useState(false)
  const area = useRef<HTMLTextAreaElement>(null)
  const picker = useRef<HTMLInputElement>(null)

  useEffect(() => {
    const box = area.current
    if (box === null) return
    box.style.height = 'auto'
    box.style.height = `${Math.min(box.scrollHeight, 220)}px`
    keepDraft(me, text)
  }, [text, me])
  useEffect(() => {
    if (replyTo !== null) area.current?.focus()
  }, [replyTo])
  useEffect(() => {
    if (suggested === null) return
    setText(suggested.text)
    area.current?.focus()
  }, [suggested])

  const change = (key: number, to: Partial<Upload>): void =>
    setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...to } : one)))

  const add = (files: readonly File[]): void => {
    const room = me.limits.attachments - uploads.length
    for (const [i, file] of files.entries()) {
      const key = nextKey++
      const problem =
        i >= room
          ? `at most ${me.limits.attachments} files`
          : file.size > me.limits.upload_bytes
            ? `larger than ${formatSize(me.limits.upload_bytes)}`
            : file.size === 0
              ? 'empty'
              : null
      setUploads((all) => [...all, { key, name: file.name, size: file.size, share: 0, file: null, problem }])
      if (problem !== null) continue
      void upload(`/chat/upload?name=${encodeURIComponent(file.name)}`, file, (share) =>
        change(key, { share }),
      ).then((answer) =>
        change(
          key,
          answer.ok ? { share: 1, file: answer.body as unknown as FileRef } : { problem: answer.problem },
        ),
      )
    }
  }

  const ready = uploads.flatMap((one) => (one.file === null ? [] : [one.file]))
  const running = uploads.some((one) => one.file === null && one.problem === null)
  const over = text.length > me.limits.text_chars
  const can = !running && !over && (text.trim() !== '' || ready.length > 0)

  const submit = (): void => {
    if (!can) return
    onSend(text.trim() === '' ? '' : text, ready)
    setText('')
    setUploads([])
    area.current?.focus()
  }

  return (
    <form
      aria-label="Write a message"
      class={`composer${dragging ? ' dragging' : ''}`}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
      onDragOver={(event) => {
        event.preventDefault()
        setDragging(true)
      }}
      onDragLeave={() => setDragging(false)}
      onDrop={(event) => {
        event.preventDefault()
        setDragging(false)
        add([...(event.dataTransfer?.files ?? [])])
      }}
    >
      {replyTo !== null && (
        <div class="replying">
          <span class="replying-text">
            Replying to: <bdi>{oneLine(replyTo.text, 90)}</bdi>
          </span>
          <button type="button" class="icon-button small" aria-label="Cancel reply" onClick={onCancelReply}>
            <CloseIcon />
          </button>
        </div>
      )}
      {uploads.length > 0 && (
        <ul class="uploads" aria-label="Attachments">
          {uploads.map((one) => (
            <li key={one.key} class={one.problem === null ? 'upload' : 'upload upload-bad'}>
              <bdi class="upload-name">{oneLine(one.name, 40)}</bdi>
              {one.problem !== null ? (
                <span class="tone-bad" role="alert">
                  {one.problem}
                </span>
              ) : one.file === null ? (
                <progress value={one.share} max={1} aria-label={`Uploading ${oneLine(one.name)}`} />
              ) : (
                <span class="file-size">{formatSize(one.size)}</span>
              )}
              <button
                type="button"
                class="icon-button small"
                aria-label={`Remove ${oneLine(one.name)}`}
                onClick={() => setUploads((all) => all.filter((other) => other.key !== one.key))}
              >
                <CloseIcon />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="composer-row">
        <input
          ref={picker}
          type="file"
          multiple
          class="hidden"
          aria-label="Choose files"
          tabIndex={-1}
          onChange={(event) => {
            add([...(event.currentTarget.files ?? [])])
            event.currentTarget.value = ''
          }}
        />
        <button
          type="button"
          class="icon-button"
          aria-label="Attach files"
          onClick={() => picker.current?.click()}
        >
          <ClipIcon />
        </button>
        <textarea
          ref={area}
          rows={1}
          value={text}
          dir="auto"
          enterkeyhint="send"
          aria-label={`Message ${agent}`}
          placeholder={`Message ${agent}`}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
              event.preventDefault()
              submit()
            }
          }}
          onPaste={(event) => {
            const files = [...(event.clipboardData?.files ?? [])]
            if (files.length === 0) return
            event.preventDefault()
            add(files)
          }}
        />
        <button type="submit" class="send" disabled={!can} aria-label="Send">
          <SendIcon />
        </button>
      </div>
      {over && (
        <p class="tone-bad composer-note" role="alert">
          {text.length.toLocaleString()} of {me.limits.text_chars.toLocaleString()} characters: too long to
          send
        </p>
      )}
    </form>
  )
}

// Named crash points for fault tests: SWITCHBOARD_CRASH_AT=name or name@N ends the process by SIGKILL when the point
// is reached (the Nth time). Without the variable they do nothing.

export function crashPointFrom(text: string | undefined): ((name: string) => void) | null {
  if (!text) return null
  const [wanted, times] = text.split('@')
  let left = Number(times ?? '1')
  return (name) => {
    if (name !== wanted) return
    left -= 1
    if (left <= 0) process.kill(process.pid, 'SIGKILL')
  }
}

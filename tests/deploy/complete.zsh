# Prints what zsh offers at the end of a line, one word a line.
#
# usage: zsh -f complete.zsh FOLDER_OF_COMPLETIONS LINE
#
# Completion works in an interactive zsh only, so one runs on a terminal of its
# own. Its `compadd` prints each word that it is given. The "" keeps the terminal's
# echo from looking like the answer.
zmodload zsh/zpty
zpty shell zsh -f -i
for line in \
  "PS1=; unsetopt zle_bracketed_paste; fpath=(${(q)1} \$fpath); autoload -U compinit; compinit -u -D" \
  'compadd() { local -a found; builtin compadd -O found "$@"; print -l -- "OFFER""ED "${^found}; builtin compadd "$@" }' \
  'offer() { zle complete; print; print END-OF-""OFFERS; BUFFER= }' \
  'zle -N offer; zle -C complete list-choices _main_complete; bindkey "^I" offer; print SHELL-IS-""READY'; do
  zpty -w shell $line
done
zpty -r shell printed '*SHELL-IS-READY*'
zpty -w -n shell "$2"$'\t'
zpty -r shell printed '*END-OF-OFFERS*'
print -r -- $printed | tr -d '\r' | sed -n 's/.*OFFERED //p'

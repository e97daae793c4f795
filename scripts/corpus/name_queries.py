"""Queries that are a package's name, as typed and with one typo.

Most searches of a package catalogue name the package. No list of popular
packages is published under a free licence, so this one is hand-made: programs
that most administrators or developers have heard of. Both halves of it, one for
dev and one for test, are drawn from all packages: whether a name is found does
not depend on training.
"""

from held_out import HeldOutQuery
from splitting import DEV
from words import stable_hash

POPULAR_NAMES = """
0ad abiword ack alacritty amarok anki ansible apache2 ardour aria2 aspell atril audacious audacity
autoconf automake awesome bash bat bc bind9 bison blender bluez brasero busybox calibre ccache certbot
cheese chromium clang clementine cmake cmus collectd coreutils cowsay cron cryptsetup cscope cups curl
cvs darktable dash dbus ddrescue deluge dia digikam dillo direnv dnsmasq docbook dosbox doxygen
dpkg drupal duplicity e2fsprogs elinks emacs enigmail erlang ethtool etherape evince evolution exim4
fail2ban ffmpeg fdisk feh figlet filezilla firefox-esr fish flake8 flex fluxbox fontforge
fortune-mod freecad freeciv gajim gawk gcc gdb gedit geany gftp ghostscript gimp git gitk glances
gnome-terminal gnucash gnupg gnuplot golang gparted gradle graphviz grep grub2 gthumb gtkwave gzip
handbrake haproxy hexchat hplip htop hugo i3 icecast2 icewm iftop imagemagick inkscape iotop iperf3
irssi jackd2 jenkins joe john jq k3b kate kdenlive keepassxc kicad kmail konsole krita ktorrent
latexmk less leafpad lftp libreoffice lighttpd lmms logrotate lsof ltrace lua5.4 lvm2 lxc lynx
mailman3 make mariadb-server maven maxima mc mdadm meld memcached mercurial meson midori minicom
monit mosh mosquitto mousepad mpd mplayer mpv mtr munin mutt mysql-common nano nautilus ncdu
neofetch neovim netcat-openbsd nethack-console nginx ninja-build nmap nodejs npm ntp octave okular
openssh-server openssl openvpn pandoc parted patch perl pidgin podman postfix postgresql
prometheus puppet pulseaudio putty pylint python3 qbittorrent qemu-system quilt r-base rabbitmq-server
ranger rclone redis-server rhythmbox ripgrep rsnapshot rsync rsyslog ruby samba scala screen
scribus sed shellcheck shotwell simple-scan smartmontools snapd socat sox spamassassin sqlite3
squid stellarium strace stunnel4 subversion sudo supertux supervisor swig syncthing sysstat
systemd tar tcpdump tesseract-ocr tmux tor transmission tree tshark tuxpaint ufw unison unrar-free unzip
vagrant valgrind varnish vim virtualbox vlc wget wireguard wireshark wesnoth xfce4 xterm yasm zathura
zip znc zsh
""".split()

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
# A shorter name is another word after most edits.
_MIN_TYPO_LENGTH = 4


def name_queries(part, package_names, seed):
    """Names of the part that are packages (ids `dev-n0001`), and each that is
    long enough with one edit (`dev-t0001`): a letter too many, a letter missing,
    a wrong letter or two exchanged ones. An edit never makes another package's
    name."""
    packages = set(package_names)
    wanted = 0 if part == DEV else 1
    names = [name for name in dict.fromkeys(POPULAR_NAMES)
             if name in packages and stable_hash("name", seed, name) % 2 == wanted]
    queries = [HeldOutQuery(f"{part}-n{number:04}", name, (name,))
               for number, name in enumerate(names, start=1)]
    typos = [(name, typo_of(name, packages, seed)) for name in names if len(name) >= _MIN_TYPO_LENGTH]
    queries += [HeldOutQuery(f"{part}-t{number:04}", typo, (name,))
                for number, (name, typo) in enumerate(typos, start=1)]
    return queries


def typo_of(name, packages, seed):
    """`name` after one random edit that leaves its first letter, as most typos do."""
    attempt = 0
    while True:
        draw = stable_hash("typo", seed, name, attempt)
        place = 1 + draw // 4 % (len(name) - 1)
        letter = _ALPHABET[draw // 4096 % len(_ALPHABET)]
        before, after = name[:place], name[place:]
        edited = (before + letter + after, before + after[1:], before + letter + after[1:],
                  before + after[1:2] + after[:1] + after[2:])[draw % 4]
        if edited != name and edited not in packages:
            return edited
        attempt += 1

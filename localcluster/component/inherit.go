package component

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// descriptors is the environment variable that tells how many open files a process was given.
const descriptors = "RUNHOOK_DESCRIPTORS"

// firstDescriptor is the first one after the standard three.
const firstDescriptor = 3

// HandOver gives open files to a command of this program.
func HandOver(cmd *exec.Cmd, files []*os.File) {
	cmd.ExtraFiles = files
	cmd.Env = append(os.Environ(), descriptors+"="+strconv.Itoa(len(files)))
}

// Inherited are the open files this process was given. They are not passed on
// to what it starts, unless told so.
func Inherited() ([]*os.File, error) {
	n, err := strconv.Atoi(os.Getenv(descriptors))
	if err != nil {
		return nil, fmt.Errorf("this command is for localcluster itself: use up, down, status or env")
	}
	files := make([]*os.File, n)
	for i := range files {
		fd := firstDescriptor + i
		syscall.CloseOnExec(fd)
		files[i] = os.NewFile(uintptr(fd), "inherited")
	}
	return files, nil
}
